"""What a writer that was killed leaves in a folder goes with the last file there, and not while it may be at work."""

import pytest

from transforms.storage import local_files
from transforms.storage.local import LocalStore


@pytest.fixture
def store(tmp_path):
    store = LocalStore(str(tmp_path))
    store.write("a/b/file", b"1")
    (tmp_path / "a/b/.parquetry-0123").write_bytes(b"half of it")
    return store


@pytest.fixture
def an_hour_later(monkeypatch):
    """The system's time of a file's last change cannot be set: what counts as old can."""
    monkeypatch.setattr(local_files, "_WRITING_SECONDS", -60)


def test_a_temporary_file_of_a_dead_writer_goes_with_its_folder(store, tmp_path, an_hour_later):
    store.delete(["a/b/file"])
    assert not (tmp_path / "a").exists()


def test_one_of_a_writer_at_work_stays(store, tmp_path):
    store.delete(["a/b/file"])
    assert (tmp_path / "a/b/.parquetry-0123").exists()


@pytest.mark.parametrize("name", ["other", "folder/other", ".parquetryish"])
def test_it_stays_beside_anything_else(store, tmp_path, an_hour_later, name):
    path = tmp_path / "a/b" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"2")
    store.delete(["a/b/file"])
    assert (tmp_path / "a/b/.parquetry-0123").exists()
    assert path.exists()
