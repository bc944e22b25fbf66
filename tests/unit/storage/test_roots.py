"""Roots have one form, and say of any other place whether it lies inside."""

from pathlib import Path

import pytest

from transforms.model.errors import ConfigError
from transforms.storage.registry import open_store
from transforms.storage.roots import name_below, normal_root


@pytest.mark.parametrize(
    ("root", "normal"),
    [
        ("c", "c"),
        ("./c/", "c"),
        ("c//d/./e", "c/d/e"),
        (".", "."),
        ("./", "."),
        ("/", "/"),
        ("//srv/", "/srv"),
        ("c/../d", "c/../d"),
        ("../d", "../d"),
        ("./~c", "./~c"),
        ("./gs:/c", "./gs:/c"),
        ("./gs/c", "gs/c"),
        ("file:///srv/./c/", "file:///srv/c"),
        ("gs://b", "gs://b"),
        ("gs://b/", "gs://b"),
        ("gs://b/./x//y//", "gs://b/./x//y"),
        ("s3://b/x/", "s3://b/x"),
        ("az://b/x/", "az://b/x"),
        ("abfss://b@a.dfs.core.windows.net/x/", "abfss://b@a.dfs.core.windows.net/x"),
        ("abfs://b@a.dfs.core.windows.net", "abfss://b@a.dfs.core.windows.net"),
    ],
)
def test_a_root_has_one_form_and_keeps_it(root, normal):
    assert normal_root(root) == normal
    assert normal_root(normal) == normal
    assert open_store(root).root == normal


def test_a_tilde_is_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    assert normal_root("~/corpus/") == "/home/ann/corpus"
    assert normal_root("~") == "/home/ann"


@pytest.mark.parametrize(
    ("root", "sentence"),
    [
        ("", "'' names no folder"),
        ("  ", "names no folder"),
        ("a\0b", "names no folder"),
        ("gs:/b/x", "is no URI; write gs://b/x, or ./gs:/b/x for a folder"),
        ("s3:b", "is no URI; write s3://b"),
        ("file:/srv", "is no URI; write file:///srv"),
        ("gs:///x", "names no bucket"),
        ("az:b", "is no URI; write az://b"),
        ("abfss://b/x", "names no container and account; write abfss://CONTAINER@ACCOUNT"),
        ("abfss://@a.dfs.core.windows.net/x", "names no container and account"),
        ("GS://b", "there is no store for GS://"),
        ("http://b/x", "there is no store for http://"),
        ("~nobody-of-that-name/x", "there is no home folder of that user"),
    ],
)
def test_what_names_no_place_is_refused_in_a_sentence(root, sentence):
    with pytest.raises(ConfigError, match=sentence):
        open_store(root)


@pytest.mark.parametrize(
    ("root", "other", "name"),
    [
        ("gs://b", "gs://b/t", "t/"),
        ("gs://b/c", "gs://b/c/build/t", "build/t/"),
        ("gs://b/c", "gs://b/c", ""),
        ("gs://b/c", "gs://b/cc", None),
        ("gs://b/c/t", "gs://b/c", None),
        ("gs://b/c", "s3://b/c/t", None),
        ("gs://b", "t", None),
        ("s3://b/c", "s3://b/c/t", "t/"),
        ("/", "/srv/t", "srv/t/"),
        ("/srv/c", "file:///srv/c/t", "t/"),
        ("file:///srv/c", "/srv/c/t", "t/"),
        ("/srv/c", "/srv/c/x/../t", "t/"),
        ("/srv/c", "/srv/cc", None),
    ],
)
def test_what_lies_in_a_place_is_told_by_the_place_and_not_by_the_text(root, other, name):
    assert name_below(root, other) == name


def test_links_and_relative_paths_are_followed_to_the_place(tmp_path, monkeypatch):
    (tmp_path / "corpus/build").mkdir(parents=True)
    Path(tmp_path / "link").symlink_to(tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    assert name_below(".", "corpus/build/t") == "corpus/build/t/"
    assert name_below("corpus", str(tmp_path / "link/build/t")) == "build/t/"
    assert name_below("link", "corpus/build/t") == "build/t/"
    assert name_below("corpus/build", "corpus") is None
