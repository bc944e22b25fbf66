"""The whole job with a server of embeddings, good and bad: the table is the same, and nothing is lost."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pipeline.run import run_job
from tests.servers.embedding_server import EmbeddingServer
from transforms.embedders.registry import close_embedders, make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.model.errors import GuardError, ParquetryError

FAULTS = ("shuffled", "floats", "missing", "extra", "nan", "dimension", "429", "500", "503", "reset", "cut")


@pytest.fixture
def server():
    with EmbeddingServer(make_embedder(StaticSettings())) as server:
        yield server
        close_embedders()


def embedder_of(server, **more) -> dict:
    return {
        "kind": "openai", "preset": "vllm", "base_url": server.url, "model": "static", "dimension": 256,
        "max_items": 2, "tries": 12, "on_drift": "ignore",
    } | more  # fmt: skip


def write_corpus(world) -> None:
    world.put("about.md", "# About\n\nA rover.\n")
    world.put("notes/radio.txt", "A radio.\n")
    for number in range(40):
        parts = [f"## Part {part}\n\nThe wheel {number} of rover {part} has a bolt.\n" for part in range(3)]
        world.put(f"{number:02}.md", f"# Page {number}\n\n" + "\n".join(parts))


def test_with_a_fifth_of_all_requests_failing_the_table_is_bit_equal(world, server):
    write_corpus(world)
    world.run(embedder=embedder_of(server))
    calm = world.rows()
    # Others than the chance of one run would choose: each fault comes twice, then by chance.
    server.script.extend(FAULTS * 2)
    server.chance = dict.fromkeys(FAULTS, 0.2 / len(FAULTS))
    other = type(world)(world.folder / "again", world.settings)
    write_corpus(other)
    other.run(embedder=embedder_of(server))
    assert not server.script
    faulty = other.rows()
    own = ("doc_uri",)
    for before, after in zip(calm, faulty, strict=True):
        assert np.float32(before["embedding"]).tobytes() == np.float32(after["embedding"]).tobytes()
        assert {k: v for k, v in before.items() if k not in own} == {
            k: v for k, v in after.items() if k not in own
        }


def test_no_text_is_sent_twice_in_a_run_nor_in_the_next(world, server):
    write_corpus(world)
    world.run(embedder=embedder_of(server))
    sent = [text for texts in server.texts for text in texts]
    assert len(sent) == len(set(sent))
    world.put("new.md", "# New\n\nOne more page.\n")
    server.texts.clear()
    world.run(embedder=embedder_of(server))
    assert [text for texts in server.texts for text in texts if "One more page" not in text] == []


def test_a_server_that_is_down_stops_the_run_with_one_sentence_and_publishes_nothing(world, server):
    world.put("a.md", "# A\n\nText.\n")
    server.rules.broken = 401
    with pytest.raises(ParquetryError, match="the key is missing or wrong"):
        world.run(embedder=embedder_of(server))
    assert not (world.table / "latest.json").exists()


def test_a_document_with_a_refused_text_is_rejected_and_keeps_its_last_good_rows(world, server):
    world.run(embedder=embedder_of(server))
    before = {row["doc_id"]: row["text"] for row in world.rows()}
    server.rules.poison = {"poison": 400}
    world.put("notes/radio.txt", "The radio is poison.\n")
    world.put("about.md", "# Pumps\n\nAnother pump.\n")
    world.put("new.md", "# New\n\nThis is poison too.\n")
    outcome = world.run(embedder=embedder_of(server))
    assert outcome.counts["rejected"] == 2
    assert outcome.reasons == {"embedding_refused": 2}
    assert "chunk 1: 400: this input cannot be embedded" in str(outcome.examples)
    rows = {row["doc_id"]: row["text"] for row in world.rows()}
    assert rows["notes/radio.txt"] == before["notes/radio.txt"]
    assert "Another pump" in rows["about.md"]
    assert "new.md" not in rows
    assert all(row["embedding"] is not None for row in world.rows())
    statuses = {row["doc_id"]: row["status"] for row in world.rows("documents")}
    assert statuses["notes/radio.txt"] == "stale"
    assert statuses["about.md"] == "ok"


def test_a_refused_text_is_not_paid_for_every_night_but_embedded_once_it_is_changed(world, server):
    server.rules.poison = {"poison": 400}
    world.put("a.md", "# A\n\nThis is poison.\n")
    world.run(embedder=embedder_of(server))
    server.texts.clear()
    outcome = world.run(embedder=embedder_of(server))
    assert (outcome.status, server.texts) == ("unchanged", [])
    world.put("a.md", "# A\n\nThis is harmless now.\n")
    outcome = world.run(embedder=embedder_of(server))
    assert outcome.counts["rejected"] == 0
    assert "harmless" in str([row["text"] for row in world.rows()])


class Changed:
    """The static model with other vectors under the same name."""

    def __init__(self) -> None:
        self._model = make_embedder(StaticSettings())
        self.counter = self._model.counter

    def embed(self, texts, task="document"):
        return self._model.embed(texts, task)[:, ::-1]


def test_a_model_that_changed_under_its_name_is_noticed_before_vectors_are_mixed(world, server, caplog):
    world.run(embedder=embedder_of(server, on_drift="refuse"))
    world.put("new.md", "# New\n\nOne more page.\n")
    world.run(embedder=embedder_of(server, on_drift="refuse"))
    server.embedder = Changed()
    world.put("newer.md", "# Newer\n\nAnd one more.\n")
    with pytest.raises(GuardError, match="gives other vectors than it did"):
        world.run(embedder=embedder_of(server, on_drift="refuse"))
    assert world.latest() == 2
    outcome = world.run(embedder=embedder_of(server, on_drift="warn"))
    assert outcome.status == "published"
    assert "gives other vectors than it did" in caplog.text
    (notice,) = outcome.notices
    assert notice.startswith("The model static gives other vectors than it did")
    assert json.loads((world.snapshot(3) / "report.json").read_text())["notices"] == [notice]


def test_a_model_that_changed_is_noticed_on_another_runner_too(world, server, monkeypatch):
    monkeypatch.setattr("pipeline.run.LOCAL_RUNNERS", ())
    runner = ["--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"]

    def run():
        return run_job(world.config(embedder=embedder_of(server, on_drift="refuse")), runner)

    assert run().status == "published"
    server.embedder = Changed()
    world.put("newer.md", "# Newer\n\nAnd one more.\n")
    server.texts.clear()
    with pytest.raises(GuardError, match="gives other vectors than it did"):
        run()
    assert not any("And one more" in text for texts in server.texts for text in texts)


def test_a_budget_that_does_not_reach_for_the_look_at_the_model_refuses_before_any_work(world, server):
    world.run(embedder=embedder_of(server))
    world.put("new.md", "# New\n\nOne more page.\n")
    with pytest.raises(GuardError, match=r"budget .* is smaller than the next text"):
        world.run(embedder=embedder_of(server, on_drift="warn"), limits={"max_tokens": 5})
