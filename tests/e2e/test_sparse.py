"""Sparse vectors night after night: made anew when their settings change, and nothing else with them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.run import plan_job, run_job
from pipeline.scope import Scope
from transforms.model.errors import GuardError, TableError
from transforms.planning.selection import Selection
from transforms.sparse.bm25 import BM25
from transforms.sparse.registry import make_sparse
from transforms.sparse.settings import BM25Settings
from transforms.stages.estimate import estimate
from transforms.storage.registry import open_store
from transforms.table.history import rollback
from transforms.table.reader import Snapshot
from transforms.table.terms import count_terms, read_terms

NONE = {"kind": "none"}
NIGHT = {"kind": "bm25", "b": 0.5}
DENSE = ("embedding", "embed_key", "embed_model")


def sparse(rows):
    return {row["chunk_id"]: (row["sparse_indices"], row["sparse_values"]) for row in rows}


def dense(rows):
    return {row["chunk_id"]: [row[name] for name in DENSE] for row in rows}


def newest(world):
    return Snapshot.newest(open_store(str(world.table)))


def check_terms(world):
    snapshot = newest(world)
    kept, counted = read_terms(snapshot), count_terms(snapshot.store, snapshot.manifest)
    assert kept.chunks == counted.chunks == snapshot.manifest.counts["chunks"]
    assert kept.ids.tolist() == counted.ids.tolist()
    assert kept.frequencies.tolist() == counted.frequencies.tolist()


def drop_columns(world, number):
    """Make a snapshot what an earlier version of the program wrote."""
    folder = world.snapshot(number)
    manifest = json.loads((folder / "manifest.json").read_text())
    for file in manifest["files"]:
        path = folder / file["path"]
        table = pq.read_table(path, partitioning=None)
        names = [name for name in table.column_names if not name.startswith("sparse_")]
        footer = pq.read_metadata(path).metadata
        pq.write_table(table.select(names).replace_schema_metadata(footer), path)
        file["bytes"] = path.stat().st_size
    del manifest["sparse"], manifest["terms"], manifest["recipe"]["sparse"]
    (folder / "terms.parquet").unlink(missing_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_every_chunk_has_the_terms_of_what_was_embedded(world):
    world.run()
    rows = world.rows()
    encoder = make_sparse(BM25Settings())
    for row in rows:
        wanted = encoder.encode([row["embed_text"]])
        assert row["sparse_indices"] == wanted.indices.tolist()
        assert np.float32(row["sparse_values"]).tolist() == wanted.values.tolist()
    manifest = world.manifest()
    assert manifest["sparse"] == encoder.name
    terms = world.snapshot(1) / "terms.parquet"
    assert (manifest["terms"]["path"], manifest["terms"]["bytes"]) == (
        "terms.parquet",
        terms.stat().st_size,
    )
    check_terms(world)


def test_other_settings_make_sparse_vectors_anew_and_read_cut_and_embed_nothing(world):
    world.run()
    before = world.rows()
    outcome = world.run(sparse=NIGHT)
    assert outcome.status == "published"
    assert outcome.counts["embedded"] == 0
    assert outcome.work == {"opened": 0, "extracted": 0, "chunked": 0}
    after = world.rows()
    assert dense(after) == dense(before)
    assert [row["sparse_indices"] for row in after] == [row["sparse_indices"] for row in before]
    assert all(sparse(after)[key] != sparse(before)[key] for key in sparse(before))
    assert {row["changed_in"] for row in after} == {2}
    assert {
        row["chunk_id"] for row in pq.read_table(world.snapshot(2) / "deletes.parquet").to_pylist()
    } == set()
    assert world.run(sparse=NIGHT).status == "unchanged"
    check_terms(world)


def test_a_plan_of_other_settings_foresees_no_tokens(world):
    world.run()
    for sparse_settings, work in ((NIGHT, True), (NONE, True), ({"kind": "bm25"}, False)):
        job, plans = plan_job(world.config(sparse=sparse_settings))
        assert [plan.work_bytes > 0 for plan in plans] == [work]
        assert [estimate(plan, job).tokens for plan in plans] == [0]
    world.put("new.md", "# New\n\nA page that nobody has read.\n")
    job, plans = plan_job(world.config(sparse=NIGHT))
    assert estimate(plans[0], job).tokens > 0


def test_they_are_turned_off_and_on_again_without_embedding_anything(world):
    world.run()
    before = world.rows()
    outcome = world.run(sparse=NONE)
    assert (outcome.status, outcome.counts["embedded"]) == ("published", 0)
    rows = world.rows()
    assert dense(rows) == dense(before)
    assert set(sparse(rows).values()) == {(None, None)}
    assert (world.manifest()["sparse"], world.manifest()["terms"]) == (None, None)
    assert not (world.snapshot(2) / "terms.parquet").exists()
    assert read_terms(newest(world)) is None
    assert world.run(sparse=NONE).status == "unchanged"
    outcome = world.run()
    assert (outcome.status, outcome.counts["embedded"], outcome.work["chunked"]) == ("published", 0, 0)
    assert sparse(world.rows()) == sparse(before)
    check_terms(world)


def test_frequencies_of_a_run_that_died_do_not_stay_where_none_are_wanted(world):
    world.run(sparse=NONE)
    stray = world.snapshot(2) / "terms.parquet"
    stray.parent.mkdir()
    stray.write_bytes(b"of a run that died")
    world.put("new.md", "Another file.\n")
    world.run(sparse=NONE)
    assert world.latest() == 2
    assert not stray.exists()


def test_a_table_of_an_earlier_version_is_read_and_gets_its_columns_the_next_night(world):
    world.run()
    before = world.rows()
    drop_columns(world, 1)
    old = newest(world)
    assert read_terms(old) is None
    (batch,) = old.chunks(["chunk_id", "sparse_indices"], source="docs")
    assert batch["sparse_indices"].null_count == batch.num_rows == len(before)
    outcome = world.run()
    assert (outcome.status, outcome.counts["embedded"]) == ("published", 0)
    assert outcome.work == {"opened": 0, "extracted": 0, "chunked": 0}
    assert sparse(world.rows()) == sparse(before)
    check_terms(world)


def test_a_table_of_an_earlier_version_stays_as_it_is_where_none_are_wanted(world):
    world.run(sparse=NONE)
    drop_columns(world, 1)
    assert world.run(sparse=NONE).status == "unchanged"
    (world.corpus / "about.md").rename(world.corpus / "moved.md")
    assert world.run(sparse=NONE).counts["embedded"] == 0
    assert set(sparse(world.rows()).values()) == {(None, None)}


def test_frequencies_follow_edits_moves_deletes_and_readers_that_are_sent_back(world):
    world.run()
    world.put("new.md", "# New\n\nThe winch pulls the rover out of the sand.\n")
    world.run()
    check_terms(world)
    (world.corpus / "about.md").rename(world.corpus / "about-pumps.md")
    world.run()
    check_terms(world)
    rollback(open_store(str(world.table)), 1)
    (world.corpus / "notes/radio.txt").unlink()
    world.run()
    assert world.manifest()["parent"] == 1
    check_terms(world)


def test_damaged_frequencies_are_said_to_be_so_and_counted_anew_the_next_night(world):
    world.run()
    path = world.snapshot(1) / "terms.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(TableError, match=r"terms\.parquet is damaged"):
        read_terms(newest(world))
    world.put("new.md", "Another file.\n")
    world.run()
    check_terms(world)
    (world.snapshot(2) / "terms.parquet").unlink()
    with pytest.raises(TableError, match=r"terms\.parquet is missing"):
        read_terms(newest(world))
    with pytest.raises(TableError, match=r"terms\.parquet is missing"):
        rollback(open_store(str(world.table)), 2)
    (world.corpus / "new.md").unlink()
    world.run()
    check_terms(world)


def first_frequencies(world, name):
    """The bytes that a first run over today's files writes."""
    table = world.folder / name
    run_job(world.config(table=str(table)))
    return (table / "snapshots/000001/terms.parquet").read_bytes()


def test_a_night_and_a_full_run_write_the_very_bytes_of_a_first_run(world):
    world.run()
    world.put("new.md", "Another file about pumps.\n")
    world.put("about.md", "# Pumps\n\nOther words.\n")
    world.run()
    assert (world.snapshot(2) / "terms.parquet").read_bytes() == first_frequencies(world, "first")
    (world.corpus / "new.md").unlink()
    run_job(world.config(), scope=Scope(full=True))
    assert (world.snapshot(3) / "terms.parquet").read_bytes() == first_frequencies(world, "second")


def test_a_run_about_a_part_does_not_put_other_vectors_beside_those_there_are(world):
    world.run()
    world.put("notes/new.txt", "Another note.\n")
    scope = Scope(selection=Selection(prefix="notes/"))
    with pytest.raises(
        GuardError, match="has other sparse vectors, which would stand beside those of today"
    ):
        run_job(world.config(sparse=NIGHT), scope=scope)
    run_job(world.config(sparse=NONE), scope=scope)
    statuses = {
        row["doc_id"]: (row["status"], bool(row["sparse_recipe"])) for row in world.rows("documents")
    }
    assert statuses == {
        "about.md": ("ok", True),
        "notes/new.txt": ("ok", False),
        "notes/radio.txt": ("ok", False),
    }
    assert world.manifest()["sparse"] is None
    world.run()
    check_terms(world)


def test_a_night_analyses_new_texts_alone(world, monkeypatch):
    world.settings = {"size": {"target": 40, "max": 40}, "overlap": {"size": 0}}
    world.run()
    before = {row["embed_text"] for row in world.rows()}
    seen = []
    encode = BM25.encode
    monkeypatch.setattr(BM25, "encode", lambda self, texts: seen.extend(texts) or encode(self, texts))
    path = world.corpus / "notes/radio.txt"
    path.write_text(path.read_text().replace("older", "newer"))
    world.run()
    after = {row["embed_text"] for row in world.rows()}
    assert sorted(seen) == sorted(after - before)
    assert len(seen) < len(after)
    run_job(world.config(), scope=Scope(full=True))
    assert set(seen) == after


def test_a_model_makes_the_vectors_where_one_is_named(world, tmp_path):
    pytest.importorskip("onnx", reason="onnx, which builds the model, is not installed")
    pytest.importorskip("onnxruntime", reason="the extra `minilm` is not installed")
    from tests.support.tiny_splade import WORDS, write_model

    write_model(tmp_path / "tiny")
    world.run()
    before = world.rows()
    world.put("about.md", "the pump runs dry")
    settings = {"kind": "splade", "model_path": str(tmp_path / "tiny"), "max_tokens": 16}
    world.run(sparse=settings)
    rows = {row["doc_id"]: row for row in world.rows()}
    assert [WORDS[one] for one in rows["about.md"]["sparse_indices"]] == ["pump", "runs", "dry"]
    assert np.float32(rows["about.md"]["sparse_values"]).tolist() == [1, 2, 1]
    assert rows["notes/radio.txt"]["embedding"] in [row["embedding"] for row in before]
    assert world.manifest()["sparse"].startswith("splade@1-")
    check_terms(world)


@pytest.mark.parametrize("beam_args", [["--runner=DirectRunner"], ["--direct_num_workers=2"]])
def test_a_run_in_beam_writes_the_very_same_files(world, beam_args):
    for n in range(12):
        world.put(f"more/{n:02}.md", f"# Part {n}\n\nPump P-{n} runs max_pool_size {n}.\n" * (n + 1))
    settings = {"run": {"workers": 2, "shard_bytes": 1024}}
    run_job(world.config(**settings), beam_args)
    check_terms(world)
    alone = world.folder / "alone"
    run_job(world.config(table=str(alone), run={"workers": 1, "shard_bytes": 1024}))
    names = sorted(path.relative_to(alone) for path in alone.rglob("*/*.parquet"))
    assert len(names) > 4
    for name in names:
        assert (alone / name).read_bytes() == (world.table / name).read_bytes()
