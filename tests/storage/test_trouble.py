"""What the network and the service do to a client, and what a caller sees of it: nothing, or one sentence."""

import pytest

from transforms.model.errors import StorageError

# Vendors' clients leave connections open on which they have given up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
BODY = bytes(range(256)) * 400


@pytest.mark.parametrize("fault", ["429", "500", "503", "reset"])
def test_passing_faults_are_not_seen(troubled, fault):
    store, trouble = troubled
    for call in (
        lambda: store.write("a", BODY),
        lambda: store.read("a"),
        lambda: store.stat("a"),
        lambda: list(store.list()),
        lambda: store.copy("a", "b"),
        lambda: store.create("c", b"c"),
        lambda: store.replace("c", b"d", store.stat("c").token),
        lambda: store.delete(["b"]),
    ):
        trouble.faults.extend([fault, fault])
        call()
        assert not trouble.faults
    assert [info.name for page in store.list() for info in page] == ["a", "c"]
    assert store.read("a") == BODY
    assert store.read("c") == b"d"


def test_a_body_that_breaks_off_is_fetched_whole(troubled):
    store, trouble = troubled
    store.write("a", BODY)
    trouble.faults.extend(["cut", "cut"])
    assert store.read("a", token=None) == BODY
    assert not trouble.faults


def test_a_body_that_comes_slowly_is_waited_for(troubled):
    store, trouble = troubled
    store.write("a", BODY)
    trouble.faults.append("slow")
    assert store.read("a") == BODY


def test_a_body_that_comes_to_a_halt_is_asked_for_again(troubled, monkeypatch):
    store, trouble = troubled
    for module in ("gcs", "s3", "azure_account"):
        monkeypatch.setattr(f"transforms.storage.{module}._TIMEOUT", 1.0)
    store.write("a", BODY)
    trouble.faults.append("stall")
    assert store.read("a") == BODY
    assert not trouble.faults


def test_a_body_with_a_wrong_byte_is_noticed(troubled, request):
    store, trouble = troubled
    if store.root.startswith("s3://"):
        pytest.skip("moto's server gives no checksum to compare with; the service does")
    store.write("a", BODY)
    trouble.faults.extend(["garbled"] * 9)
    with pytest.raises(StorageError, match="came with other bytes than its checksum says"):
        store.read("a")


def test_parts_of_an_object_are_of_one_version(troubled):
    store, _ = troubled
    store.write("a", BODY)
    with store.open("a") as file:
        file.seek(-1_000, 2)
        assert file.read(10) == BODY[-1_000:-990]
        store.write("a", b"other")
        file.seek(0)
        with pytest.raises(StorageError, match="/corpus/a"):
            file.read(1)


def test_a_writer_whose_success_was_lost_on_the_way_still_learns_that_it_won(troubled):
    store, trouble = troubled
    trouble.faults.append("lost")
    token = store.create("claim", b"mine")
    assert store.stat("claim").token == token
    trouble.faults.append("lost")
    token = store.replace("claim", b"still mine", token)
    assert store.stat("claim").token == token
    assert store.read("claim") == b"still mine"


def test_a_service_that_goes_on_failing_ends_in_one_sentence(troubled, monkeypatch):
    store, trouble = troubled
    monkeypatch.setattr("transforms.storage.gcs._DEADLINE", 1.0)
    store.write("a", b"1")
    trouble.faults.extend(["503"] * 10_000)
    with pytest.raises(StorageError, match="/corpus/a"):
        store.read("a")
