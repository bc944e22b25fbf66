"""What only a disk has: links, pipes, bytes that are no text, and folders that go while they are listed."""

import os
import shutil

import pytest

from transforms.model.errors import NotFoundError, StorageError, TooLargeError
from transforms.storage import local_walk
from transforms.storage.local import LocalStore
from transforms.storage.local_files import read_file


@pytest.fixture
def store(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c/good.md").write_bytes(b"good")
    return LocalStore(str(tmp_path / "c"))


@pytest.fixture
def folder(store, tmp_path):
    return tmp_path / "c"


def names(store):
    return [info.name for page in store.list() for info in page]


def told(store, name):
    with pytest.raises(StorageError) as caught:
        store.read(name)
    return str(caught.value)


def test_a_link_in_a_circle_is_listed_and_says_what_it_is_when_it_is_read(store, folder):
    (folder / "loop.md").symlink_to("loop.md")
    assert names(store) == ["good.md", "loop.md"]
    assert told(store, "loop.md") == f"{folder}/loop.md: Too many levels of symbolic links."
    assert [info.name for info in store.level().objects] == ["good.md", "loop.md"]


def test_a_link_to_a_name_that_is_too_long_is_listed_and_not_read(store, folder):
    (folder / "long.md").symlink_to("n" * 300)
    assert names(store) == ["good.md", "long.md"]
    assert told(store, "long.md") == f"{folder}/long.md: File name too long."


@pytest.mark.parametrize("target", ["nothing", "good.md/below"])
def test_a_link_to_nothing_is_passed_over(store, folder, target):
    (folder / "dangling.md").symlink_to(target)
    assert names(store) == ["good.md"]


def test_a_file_deeper_than_paths_reach_is_listed_and_not_read(store, folder):
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=handle)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)
    deep = "/".join(["d" * 200] * 25) + "/deep.md"
    assert names(store) == [deep, "good.md"]
    assert told(store, deep) == f"{folder}/{deep}: File name too long."
    shutil.rmtree(folder)


def test_names_that_are_no_utf8_are_kept_apart_from_all_others(store, folder):
    for name in (b"bad\xff.md", b"bad\\xff.md", b"bad\xff\\xff.md", b"bad\xff\xff.md", b"bad\\udcff.md"):
        (folder / os.fsdecode(name)).write_bytes(name)
    expected = [
        "/bad\\xff.md",
        "/bad\\xff\\\\xff.md",
        "/bad\\xff\\xff.md",
        "bad\\udcff.md",
        "bad\\xff.md",
        "good.md",
    ]
    assert names(store) == expected
    assert store.read("bad\\xff.md") == b"bad\\xff.md"
    assert told(store, "/bad\\xff.md") == (
        f"{folder}//bad\\xff.md has a name that is not UTF-8, shown escaped here; rename it."
    )


def test_a_file_in_a_folder_whose_name_is_no_utf8_is_told(store, folder):
    below = folder / os.fsdecode(b"sub/d\xe9")
    below.mkdir(parents=True)
    (below / "a.md").write_bytes(b"1")
    assert names(store) == ["good.md", "sub//d\\xe9/a.md"]
    assert "is not UTF-8" in told(store, "sub//d\\xe9/a.md")


def deleting(monkeypatch, at, gone):
    """When the folder ``at`` is looked into, ``gone`` is deleted."""
    real = local_walk._scan

    def scan(folder):
        entries = real(folder)
        if folder == at:
            shutil.rmtree(gone)
        return entries

    monkeypatch.setattr(local_walk, "_scan", scan)


def test_a_folder_that_is_deleted_while_it_is_listed_is_passed_over(store, folder, monkeypatch):
    for name in ("a/1.md", "b/2.md", "b/x/3.md"):
        store.write(name, b"")
    deleting(monkeypatch, folder, folder / "b")
    assert names(store) == ["a/1.md", "good.md"]


def test_a_root_that_is_deleted_while_it_is_listed_ends_the_listing(store, folder, monkeypatch):
    store.write("a/1.md", b"")
    deleting(monkeypatch, folder, folder)
    with pytest.raises(NotFoundError, match="There is no"):
        names(store)


def test_a_root_that_is_exchanged_while_it_is_listed_ends_the_listing(store, folder, monkeypatch):
    store.write("a/1.md", b"")
    empty = folder.parent / "empty"
    empty.mkdir()
    deleting(monkeypatch, folder, folder / "a")
    identities = iter([(1, 1), (1, 2)])
    monkeypatch.setattr(LocalStore, "_identity", lambda store: next(identities))
    with pytest.raises(StorageError, match="was exchanged for another folder while it was listed"):
        names(store)


def test_a_single_file_is_read_up_to_a_limit(folder):
    assert read_file(folder / "good.md", 4) == b"good"
    with pytest.raises(TooLargeError, match=r"good.md has more than 3 bytes"):
        read_file(folder / "good.md", 3)


def test_what_is_no_regular_file_is_never_waited_for(folder):
    os.mkfifo(folder / "pipe")
    for path, sentence in [
        (folder / "pipe", "pipe is no regular file"),
        (folder / "none", "There is no .*none"),
        (folder / "good.md/x", "There is no .*good.md/x"),
        (folder, "is a folder"),
    ]:
        with pytest.raises(StorageError, match=sentence):
            read_file(path, 10)
