"""What is told of Azure before any request: the account, the right, and names that it cannot hold."""

import pytest

from transforms.model.errors import ConfigError, StorageError
from transforms.storage.azure import AzureStore

pytest.importorskip("azure.storage.blob")
KEY = "c2VjcmV0"


@pytest.fixture(autouse=True)
def no_account(monkeypatch):
    for name in ("CONNECTION_STRING", "ACCOUNT", "KEY", "SAS_TOKEN"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)


def opened(root):
    client = AzureStore(root)._client()
    client.close()
    return client


def test_a_root_without_an_account_anywhere_is_told_how_to_name_one():
    with pytest.raises(ConfigError, match="az://c/x: set AZURE_STORAGE_ACCOUNT or"):
        opened("az://c/x")


def test_the_account_of_the_environment_is_that_of_az(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "mine")
    monkeypatch.setenv("AZURE_STORAGE_KEY", KEY)
    client = opened("az://c/x")
    assert (client.url, client.credential.account_key) == ("https://mine.blob.core.windows.net/c", KEY)


def test_a_signature_is_a_right_too(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "mine")
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=abc")
    assert opened("az://c").url == "https://mine.blob.core.windows.net/c?sv=1&sig=abc"


def test_a_root_names_its_own_account_and_gets_no_key_of_another(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "mine")
    monkeypatch.setenv("AZURE_STORAGE_KEY", KEY)
    client = opened("abfss://c@other.dfs.core.windows.net/x")
    assert client.url == "https://other.blob.core.windows.net/c"
    assert type(client.credential).__name__ == "DefaultAzureCredential"
    assert opened("abfss://c@mine.dfs.core.windows.net/x").credential.account_key == KEY


def test_a_connection_string_says_where_its_account_is(monkeypatch):
    endpoint = "BlobEndpoint=http://127.0.0.1:1/mine"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"AccountName=mine;AccountKey={KEY};{endpoint}")
    for root in ("az://c", "abfss://c@mine.dfs.core.windows.net"):
        assert opened(root).url == "http://127.0.0.1:1/mine/c"


def test_a_connection_string_that_is_none_is_refused_and_not_repeated(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"AccountName=mine;{KEY}")
    with pytest.raises(ConfigError, match="AZURE_STORAGE_CONNECTION_STRING is not of the form") as caught:
        opened("az://c")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["a/../b", "./b", "a.", "a./b", "back\\slash", "line\nbreak", "\x7f", "\uffff", "d/" * 254 + "a"],
)
def test_names_that_it_would_take_for_others_are_refused(monkeypatch, name):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "mine")
    with pytest.raises(StorageError, match="is no name that Azure Blob Storage can hold"):
        AzureStore("az://c").read(name)


def test_uris_name_the_place_as_the_root_does():
    assert AzureStore("az://c/x").uri("a#b") == "az://c/x/a#b"
    root = "abfss://c@mine.dfs.core.windows.net/x"
    assert AzureStore(root).uri("a b") == f"{root}/a b"
