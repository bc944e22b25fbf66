"""Budgets, quotas and what is told of them: by the job, whatever the number of its processes."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from pipeline.job import budget_tokens, make_job
from pipeline.run import run_job
from pipeline.workers import processes_elsewhere, processes_here
from tests.servers.embedding_server import EmbeddingServer
from transforms.embedders.registry import close_embedders, make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.model.errors import ConfigError, GuardError, ParquetryError

MODEL = make_embedder(StaticSettings())
KEY = "planted-4711"


@pytest.fixture
def server():
    with EmbeddingServer(MODEL) as server:
        yield server
        close_embedders()


def embedder_of(server, **more) -> dict:
    return {
        "kind": "openai", "preset": "vllm", "base_url": server.url, "model": "static", "dimension": 256,
        "max_items": 2, "on_drift": "ignore",
    } | more  # fmt: skip


def write_pages(world, count: int = 30) -> None:
    for number in range(count):
        world.put(f"{number:02}.md", f"# Page {number}\n\nThe wheel {number} of the rover has a bolt.\n")


def texts_of(server) -> list[str]:
    return [text for request in server.texts for text in request]


def tokens_of(server) -> int:
    return sum(MODEL.counter.count(texts_of(server)))


def test_a_run_that_reaches_its_budget_says_so_and_the_next_one_pays_for_nothing_twice(world, server):
    write_pages(world)
    changes = {"embedder": embedder_of(server), "limits": {"max_tokens": 300}, "run": {"shard_bytes": 1024}}
    refusals, spent, outcome = [], [0], None
    while outcome is None and len(refusals) < 10:
        try:
            outcome = world.run(**changes)
        except GuardError as error:
            refusals.append(error)
        spent.append(tokens_of(server))
        assert (world.table / "latest.json").exists() == (outcome is not None)
    assert refusals
    assert {error.exit_code for error in refusals} == {4}
    assert max(np.diff(spent)) <= 300
    assert re.search(
        r"Nothing was published: the budget of 300 tokens is used up \(limits\.max_tokens, limits\.max_cost\)\. "
        r"\d of \d shards are done; \d+ objects are left, docs/\S+ the first of them, and the next text of theirs "
        r"needs more than is left of the budget\. Every vector that was paid for is kept; the same command goes on",
        str(refusals[0]),
    )
    assert outcome.status == "published"
    assert len(texts_of(server)) == len(set(texts_of(server))) == outcome.counts["chunks"] == 32
    vectors = np.array([row["embedding"] for row in world.rows()], dtype=np.float32)
    assert vectors.tobytes() == MODEL.embed([row["embed_text"] for row in world.rows()]).tobytes()


def test_a_budget_smaller_than_a_request_is_spent_to_the_last_text_in_every_run(world, server):
    write_pages(world, 12)
    changes = {"embedder": embedder_of(server, max_items=100), "limits": {"max_tokens": 150}}
    spent, said, outcome = [0], [], None
    while outcome is None and len(spent) < 20:
        try:
            outcome = world.run(**changes)
        except GuardError as error:
            said.append(str(error))
        spent.append(tokens_of(server))
        assert spent[-2] < spent[-1] <= spent[-2] + 150
    assert outcome.status == "published"
    assert all("the budget of 150 tokens is used up" in sentence for sentence in said)
    assert len(texts_of(server)) == len(set(texts_of(server))) == outcome.counts["chunks"]


def test_a_budget_smaller_than_a_text_says_so_after_all_others_have_their_vectors(world, server):
    write_pages(world, 12)
    world.put("long.md", "# Long\n\n" + "The wheel of the rover has a bolt. " * 8)
    changes = {"embedder": embedder_of(server), "limits": {"max_tokens": 150}}
    said = []
    for _ in range(6):
        with pytest.raises(GuardError) as failure:
            world.run(**changes)
        said.append(str(failure.value))
    assert "is used up" in said[0]
    assert re.search(
        r"next text, which has \d+ tokens, counted in bytes for want of `embedder\.tokenizer`\. Raise it",
        said[-1],
    )
    assert len(texts_of(server)) == len(set(texts_of(server)))
    assert world.run(**changes | {"limits": {}}).status == "published"


def test_a_budget_that_does_not_reach_for_noticing_another_model_says_so(world, server):
    write_pages(world, 6)
    embedder = embedder_of(server, on_drift="refuse")
    world.run(embedder=embedder)
    world.put("new.md", "# New\n\nA page.\n")
    with pytest.raises(
        GuardError, match=r"budget of 60 tokens .* does not reach for 5 texts of the table that are"
    ):
        world.run(embedder=embedder, limits={"max_tokens": 60})
    assert world.latest() == 1
    assert world.run(embedder=embedder, limits={"max_tokens": 600}).counts["embedded"] == 1


def test_a_run_that_a_server_ends_half_way_keeps_what_it_was_given(world, server):
    write_pages(world, 20)
    changes = {"embedder": embedder_of(server, max_concurrency=1, tries=1)}
    server.rules.broken_after = 5
    with pytest.raises(ParquetryError, match="the key is missing"):
        world.run(**changes)
    given = texts_of(server)[:10]
    server.rules.broken_after = None
    server.texts.clear()
    world.run(**changes)
    assert set(texts_of(server)).isdisjoint(given)
    assert len(texts_of(server)) == world.manifest()["counts"]["chunks"] - 10


@pytest.mark.parametrize("options", [[], ["--runner=DirectRunner"]])
def test_a_budget_that_is_used_up_by_the_gates_questions_publishes_nothing_and_loses_nothing(
    world, server, options
):
    write_pages(world, 6)
    world.run(embedder=embedder_of(server))
    (world.corpus / "05.md").unlink()
    path = world.folder / "questions.jsonl"
    asked = [f"Which rover has the wheel {n}?" for n in range(5)]
    path.write_text(
        "".join(f'{{"question": "{one}", "documents": ["docs/0{n}.md"]}}\n' for n, one in enumerate(asked))
    )
    sent = len(texts_of(server))

    def night(**limits):
        gate = {"questions": str(path), "mrr": 0.01}
        return run_job(world.config(embedder=embedder_of(server), gate=gate, limits=limits), options)

    with pytest.raises(GuardError, match="does not reach for the questions of `gate`"):
        night(max_tokens=40)
    assert world.latest() == 1
    outcome = night(max_tokens=500)
    assert (outcome.status, outcome.counts["embedded"], world.latest()) == ("published", 0, 2)
    assert set(texts_of(server)[sent:]) == set(asked)


def test_a_server_that_ends_before_the_gates_questions_is_told_of_in_its_own_words(world, server):
    write_pages(world, 3)
    world.run(embedder=embedder_of(server))
    (world.corpus / "02.md").unlink()
    (world.folder / "questions.jsonl").write_text(
        '{"question": "Which wheel?", "documents": ["docs/01.md"]}\n'
    )
    server.rules.broken = 401
    with pytest.raises(ParquetryError, match="401"):
        world.run(
            embedder=embedder_of(server),
            gate={"questions": str(world.folder / "questions.jsonl"), "mrr": 0.01},
        )
    assert world.latest() == 1


def test_kept_vectors_that_were_damaged_are_asked_for_again(world, server):
    write_pages(world, 20)
    changes = {"embedder": embedder_of(server, max_concurrency=1, tries=1)}
    server.rules.broken_after = 5
    with pytest.raises(ParquetryError):
        world.run(**changes)
    (kept,) = world.table.rglob("_vectors/*/*.arrow")
    kept.write_bytes(kept.read_bytes()[:100])
    server.rules.broken_after = None
    server.texts.clear()
    world.run(**changes)
    assert len(texts_of(server)) == world.manifest()["counts"]["chunks"]


def test_a_cost_is_a_budget_at_the_models_price(world, server):
    def budget(limits, **more):
        return budget_tokens(world.config(embedder=embedder_of(server, **more), limits=limits))

    assert budget({"max_cost": 0.5}, price_per_million_tokens=2) == 250_000
    assert budget({"max_cost": 0.5, "max_tokens": 9}, price_per_million_tokens=2) == 9
    assert budget({"max_cost": 0.5}, price_per_million_tokens=0) is None
    assert budget({"max_cost": 1}, model="text-embedding-3-small") == 50_000_000
    assert budget({}) is None
    with pytest.raises(
        ConfigError, match=r"needs the price of static: set embedder\.price_per_million_tokens"
    ):
        budget({"max_cost": 0.5})
    assert budget_tokens(world.config(limits={"max_cost": 0.5})) is None


def test_two_processes_keep_to_the_jobs_quota_and_budget_together(world, server):
    write_pages(world, 120)
    rate = 20
    with pytest.raises(GuardError, match=r"the budget of 1,200 tokens is used up"):
        world.run(
            embedder=embedder_of(server, max_items=1, requests_per_minute=60 * rate),
            limits={"max_tokens": 1200},
            run={"workers": 2, "shard_bytes": 1024},
        )
    assert 600 < tokens_of(server) <= 1200
    times = sorted(at for at, _ in server.times)
    assert len(times) > 40
    for first, last in zip(times, times[rate:], strict=False):
        assert last - first > 0.5


def test_the_number_of_processes_is_that_of_the_runner(world):
    from apache_beam.options.pipeline_options import PipelineOptions

    def here(*args):
        return processes_here(PipelineOptions(list(args)))

    assert here("--direct_num_workers=3", "--direct_running_mode=multi_processing") == 3
    assert here("--direct_num_workers=3", "--direct_running_mode=multi_threading") == 1
    assert here("--direct_num_workers=1", "--direct_running_mode=in_memory") == 1

    def elsewhere(*args, **changes):
        return processes_elsewhere(PipelineOptions(list(args)), world.config(**({"run": {}} | changes)))

    assert elsewhere("--runner=DataflowRunner", "--max_num_workers=5") == 5
    assert elsewhere("--num_workers=5", "--machine_type=n2-standard-8") == 40
    assert elsewhere("--num_workers=5", "--machine_type=e2-custom-4-8192") == 20
    assert elsewhere("--runner=FlinkRunner", "--parallelism=6") == 6
    assert elsewhere("--parallelism=6", run={"workers": 9}) == 9
    assert elsewhere("--runner=FlinkRunner") == 1
    quota = {
        "kind": "openai", "preset": "vllm", "base_url": "http://host/v1", "model": "m", "dimension": 8,
        "tokens_per_minute": 100,
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"set run\.workers to their number"):
        elsewhere("--runner=FlinkRunner", embedder=quota)


def test_a_server_that_gives_zeros_for_everything_publishes_nothing(world, server):
    write_pages(world)
    server.chance = {"zeros": 1.0}
    with pytest.raises(GuardError, match="of 32 texts that were embedded 32 came without a vector"):
        world.run(embedder=embedder_of(server, max_items=100), limits={"max_rejected_share": 1})
    assert not (world.table / "latest.json").exists()


def test_a_text_over_the_models_input_is_embedded_in_parts_and_its_row_says_so(world, server):
    one_character = "e" + "\u0301" * 30
    world.put("long.md", f"# Long\n\n{one_character}\n")
    world.run(embedder=embedder_of(server, max_tokens=50))
    marked = {
        row["text"]: row["warnings"] for row in world.rows() if "embedded_in_parts" in row["warnings"]
    }
    assert list(marked) == [one_character]
    world.run(embedder=embedder_of(server, max_tokens=50, too_long="truncate"))
    marked = {row["text"]: row["warnings"] for row in world.rows() if "embedded_in_part" in row["warnings"]}
    assert list(marked) == [one_character]
    outcome = world.run(embedder=embedder_of(server, max_tokens=50, too_long="error"))
    assert outcome.reasons == {"text_too_long": 1}


def test_smaller_forms_of_vectors_are_stored_where_asked_for_and_cost_no_request(world, server):
    world.run(embedder=embedder_of(server))
    assert {row["embedding_int8"] for row in world.rows()} == {None}
    server.texts.clear()
    outcome = world.run(embedder=embedder_of(server, also_store=["int8", "bits"]))
    assert (outcome.counts["embedded"], server.texts) == (0, [])
    for row in world.rows():
        vector = np.array(row["embedding"], dtype=np.float32)
        assert row["embedding_int8"] == np.rint(vector * (127 / np.abs(vector).max())).astype(int).tolist()
        assert (
            np.unpackbits(np.frombuffer(row["embedding_bits"], np.uint8)).tolist() == (vector > 0).tolist()
        )
        assert row["changed_in"] == 2
    assert '"also_store": ["int8", "bits"]' in world.manifest()["recipe"]["embedder"]
    world.run(embedder=embedder_of(server))
    assert {row["embedding_bits"] for row in world.rows()} == {None}


def test_a_server_that_cuts_texts_off_without_a_word_is_told_of_at_the_end_of_the_run(
    world, server, tmp_path, capsys
):
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(MODEL.counter._tokenizer.to_str())
    server.rules.truncates_at = 5
    outcome = world.run(embedder=embedder_of(server, tokenizer=str(tokenizer)))
    (notice,) = outcome.notices
    assert re.match(r"The server counted \d+ tokens where \d+ were sent: it may cut texts off", notice)


def test_a_planted_key_is_in_no_file_log_pickle_or_graph_of_a_run(world, server, monkeypatch, caplog):
    import apache_beam as beam

    from pipeline.dag import run_everything

    monkeypatch.setenv("PLANTED", KEY)
    server.rules.key = KEY
    server.rules.poison = {"radio": 400}
    server.rules.echo = True
    embedder = embedder_of(server, api_key_env="PLANTED", base_url=server.url)
    with caplog.at_level("DEBUG"):
        outcome = world.run(embedder=embedder)
        monkeypatch.setenv("PLANTED", KEY + "-wrong")
        close_embedders()
        world.put("new.md", "# New\n\nOne more page.\n")
        with pytest.raises(ParquetryError) as failure:
            world.run(embedder=embedder)
    job = make_job(world.config(embedder=embedder), "run", 2, 1)
    pipeline = beam.Pipeline()
    run_everything(pipeline, job)
    graph = pipeline.to_runner_api().SerializeToString()
    files = [path.read_bytes() for path in world.table.rglob("*") if path.is_file()]
    assert any(b"manifest" in path.name.encode() for path in world.table.rglob("*"))
    shown = [*files, graph, pickle.dumps(job), str(outcome).encode(), str(failure.value).encode()]
    shown += [repr(failure.value).encode(), caplog.text.encode()]
    assert b"PLANTED" in pickle.dumps(job)
    assert [text[:80] for text in shown if b"planted-4711" in text] == []
