"""How many tokens a plan says that a run would embed, held against the run."""

import pytest

from pipeline.commands import plan as command
from pipeline.run import plan_job
from pipeline.scope import NOTHING_SAID
from tests.servers.embedding_server import EmbeddingServer
from transforms.embedders.registry import close_embedders, make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.stages import estimate as module
from transforms.stages.estimate import Estimate, estimate, kind_of_name


def estimated(world, **changes):
    job, plans = plan_job(world.config(**changes))
    return estimate(plans[0], job)


def test_what_is_read_whole_is_told_to_the_token(world):
    world.put("rows.csv", "name,weight\nwheel,120\nvalve,80\n")
    said = estimated(world)
    assert said == Estimate(world.run().embedded_tokens, read=3)


def test_of_many_objects_of_a_kind_some_are_read(world):
    for n in range(40):
        world.put(
            f"pages/{n:02}.md", f"# Page {n}\n\n" + f"The wheel {n} of the rover has a bolt. " * (n % 7 + 1)
        )
    said = estimated(world)
    # Five of each of two kinds at most; there is one text.
    assert said.read == 6
    assert said.tokens == pytest.approx(world.run().embedded_tokens, rel=0.3)


def test_the_table_tells_its_own_kinds_and_a_new_one_is_read(world):
    world.run()
    world.put("more.md", "# More\n\nThe vent valve opens when the pump has run for an hour.\n")
    assert (estimated(world).read, estimated(world).tokens > 0) == (0, True)
    world.put("rows.csv", "name,weight\nwheel,120\n")
    said = estimated(world)
    assert (said.read, said.guessed_bytes) == (1, 0)
    assert said.table_bytes == (world.corpus / "more.md").stat().st_size


def test_what_is_embedded_again_and_not_read_is_told_by_the_table(world):
    first = world.run()
    said = estimated(world, embedder={"kind": "hash", "dimension": 4})
    assert said.read == 0
    assert said.tokens == pytest.approx(first.embedded_tokens, rel=0.5)


def test_of_an_object_too_large_to_be_read_for_it_a_token_is_taken_for_four_bytes(
    world, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(module, "READ_BYTES", 80)
    (world.corpus / "notes" / "radio.txt").unlink()
    world.put("about.md", "word " * 40)
    assert estimated(world) == Estimate(50, guessed_bytes=200)
    path = tmp_path / "job.yaml"
    path.write_text(world.config().model_dump_json())
    assert command.run(path, NOTHING_SAID, as_json=False) == 0
    said = capsys.readouterr().out
    assert "About 50 tokens would be embedded with static-en-256@1, at no price.\n" in said
    assert "Of 200 bytes of files nothing is known, and a token is taken for four of them.\n" in said


def test_a_file_that_cannot_be_read_has_no_tokens(world):
    for path in world.corpus.rglob("*.*"):
        path.unlink()
    world.put("bad.pdf", b"%PDF-1.4 and no more")
    assert estimated(world) == Estimate(0, read=1)


def test_no_server_is_asked_where_cuts_are_by_meaning(world):
    with EmbeddingServer(make_embedder(StaticSettings())) as server:
        world.settings = {"strategy": "semantic"}
        embedder = {
            "kind": "openai", "preset": "vllm", "base_url": server.url, "model": "static", "dimension": 256,
        }  # fmt: skip
        assert estimated(world, embedder=embedder).tokens > 0
        assert server.texts == []
        close_embedders()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/b.MD", "md"),
        ("a.b/c", ""),
        (".profile", ""),
        ("x.tar.gz", "gz"),
        ("a/.b.txt", "txt"),
        ("end.", ""),
    ],
)
def test_a_kind_is_the_ending_of_a_name(name, kind):
    assert kind_of_name(name) == kind
