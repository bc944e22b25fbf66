"""What containers hold that is written by others than this program: folders, compressed blobs, rights of their own."""

import gzip
import os

import pytest

from tests.servers.troubled_proxy import Refusal
from tests.storage.conftest import between, bucket_root
from transforms.model.errors import PreconditionError, StorageError
from transforms.storage.azure import AzureStore
from transforms.storage.registry import open_store


@pytest.fixture
def root(request):
    return bucket_root("azure", request)


@pytest.fixture
def store(root):
    store = AzureStore(root)
    yield store
    store.close()


def upload(store, name, data, **how):
    from azure.storage.blob import BlobServiceClient

    with BlobServiceClient.from_connection_string(os.environ["AZURE_STORAGE_CONNECTION_STRING"]) as service:
        container = store.root.removeprefix("az://").partition("/")[0]
        service.get_blob_client(container, f"corpus/{name}").upload_blob(data, **how)


def test_folders_of_hierarchical_accounts_are_no_objects(store):
    upload(store, "sub", b"", metadata={"hdi_isfolder": "true"})
    upload(store, "sub/a.md", b"1")
    assert [info.name for page in store.list() for info in page] == ["sub/a.md"]
    assert store.level().objects == ()


def test_a_blob_that_is_stored_compressed_comes_as_what_it_is_of(store):
    from azure.storage.blob import ContentSettings

    upload(store, "a.md", gzip.compress(b"text"), content_settings=ContentSettings(content_encoding="gzip"))
    assert store.read("a.md", token=store.stat("a.md").token) == b"text"


def test_a_root_that_names_its_account_is_the_same_place(store):
    store.write("a#1.md", b"1")
    container = store.root.removeprefix("az://").partition("/")[0]
    named = AzureStore(f"abfss://{container}@devstoreaccount1.dfs.core.windows.net/corpus")
    assert named.read("a#1.md") == b"1"
    assert [info for page in named.list() for info in page] == [
        info for page in store.list() for info in page
    ]
    named.close()


@pytest.mark.parametrize(
    ("status", "code", "kind", "sentence"),
    [
        (409, "BlobImmutableDueToPolicy", StorageError, r"\(BlobImmutableDueToPolicy\)"),
        (409, "BlobAlreadyExists", PreconditionError, "changed by another writer, or exists already"),
        (412, "ConditionNotMet", PreconditionError, "changed by another writer, or exists already"),
        (412, "LeaseIdMissing", StorageError, r"\(LeaseIdMissing\)"),
    ],
)
def test_a_blob_that_is_protected_is_not_told_as_one_of_another_writer(
    root, request, monkeypatch, status, code, kind, sentence
):
    trouble = between("azure", request, monkeypatch)
    store = open_store.__wrapped__(root)
    trouble.faults.append(Refusal(status, b"", (("x-ms-error-code", code),)))
    with pytest.raises(StorageError, match=sentence) as caught:
        store.write("a", b"1")
    assert type(caught.value) is kind
    store.close()
    trouble.close()
