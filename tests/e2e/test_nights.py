"""What a night does with edits, deletions, touched files and bad ones, by the whole job."""

import os

import pyarrow.parquet as pq
import pytest

from transforms.model.errors import ConfigError, GuardError


def by_id(rows):
    return {row["chunk_id"]: row for row in rows}


def test_a_first_run_publishes_every_document(world):
    outcome = world.run()
    assert (outcome.status, outcome.snapshot) == ("published", 1)
    documents = {row["doc_id"]: row for row in world.rows("documents")}
    assert list(documents) == ["about.md", "notes/radio.txt"]
    rows = world.rows()
    assert len({row["chunk_id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["text"] == documents[row["doc_id"]]["text"][row["start"] : row["end"]]
        assert len(row["embedding"]) == 256
        assert row["changed_in"] == 1
    counts = world.manifest()["counts"]
    assert counts["documents"] == 2
    assert counts["chunks"] == counts["embedded"] == len(rows)


def test_a_second_run_without_a_change_publishes_nothing_and_embeds_nothing(world):
    world.run()
    outcome = world.run()
    assert (outcome.status, outcome.snapshot, outcome.counts["embedded"]) == ("unchanged", 1, 0)
    assert not world.snapshot(2).exists()
    assert world.latest() == 1


def test_an_edit_embeds_what_changed_and_keeps_the_rest(world):
    world.settings = {"size": {"target": 40, "max": 40}, "overlap": {"size": 0}}
    world.run()
    before = world.rows()
    path = world.corpus / "notes/radio.txt"
    path.write_text(path.read_text().replace("older", "newer"))
    outcome = world.run()
    after = world.rows()
    assert outcome.status == "published"
    changed = [row for row in after if row["embed_key"] not in {old["embed_key"] for old in before}]
    assert 0 < len(changed) < len([row for row in after if row["doc_id"] == "notes/radio.txt"])
    assert outcome.counts["embedded"] == len(changed)
    assert all(row["changed_in"] == 1 for row in after if row["doc_id"] == "about.md")
    gone = pq.read_table(world.snapshot(2) / "deletes.parquet")["chunk_id"].to_pylist()
    assert set(gone) == by_id(before).keys() - by_id(after).keys()


def test_a_document_that_is_gone_leaves_with_all_its_rows(world):
    world.run()
    (world.corpus / "about.md").unlink()
    outcome = world.run()
    assert outcome.counts["deleted"] > 0
    assert {row["doc_id"] for row in world.rows()} == {"notes/radio.txt"}
    assert {row["doc_id"] for row in world.rows("documents")} == {"notes/radio.txt"}


def test_the_last_document_of_a_source_may_go_too(world):
    world.run()
    (world.corpus / "about.md").unlink()
    (world.corpus / "notes/radio.txt").unlink()
    outcome = world.run()
    assert outcome.status == "published"
    assert outcome.counts["chunks"] == 0
    assert world.manifest()["files"] == []


def test_a_touched_file_changes_no_row_and_embeds_nothing(world):
    world.run()
    before = world.rows()
    os.utime(world.corpus / "about.md", ns=(1, 1))
    outcome = world.run()
    assert outcome.counts["embedded"] == 0
    assert world.rows() == before
    assert world.run().status == "unchanged"


def test_files_of_unchanged_shards_are_links_and_not_copies(world):
    world.run(run={"workers": 1, "shard_bytes": 1024})
    first = {path.name: path.stat().st_ino for path in world.snapshot(1).rglob("chunks/**/*.parquet")}
    world.put("zebra.md", "# Zebra\n\nA new page.\n")
    world.run(run={"workers": 1, "shard_bytes": 1024})
    second = {path.name: path.stat().st_ino for path in world.snapshot(2).rglob("chunks/**/*.parquet")}
    assert first.items() <= second.items()
    assert len(second) == len(first) + 1


def test_a_broken_file_is_one_row_and_is_not_tried_again(world):
    world.put("broken.pdf", b"%PDF-1.7\nnot really\n")
    world.put("empty.md", b"")
    outcome = world.run()
    rejected = pq.read_table(world.snapshot(1) / "rejected.parquet").to_pylist()
    assert {(row["doc_id"], row["stage"]) for row in rejected} == {
        ("broken.pdf", "extract"),
        ("empty.md", "extract"),
    }
    assert sum(outcome.reasons.values()) == 2
    assert all(row["detail"] and row["reason"] for row in rejected)
    assert world.run().status == "unchanged"


def test_a_document_that_breaks_keeps_its_last_good_rows_until_it_is_mended(world):
    world.put("page.html", "<html><body><h1>Doors</h1><p>The door opens inwards.</p></body></html>")
    world.run()
    good = [row for row in world.rows() if row["doc_id"] == "page.html"]
    world.put("page.html", b"")
    world.run()
    assert [row for row in world.rows() if row["doc_id"] == "page.html"] == good
    status = {row["doc_id"]: row["status"] for row in world.rows("documents")}
    assert status == {"about.md": "ok", "notes/radio.txt": "ok", "page.html": "stale"}
    assert world.run().status == "unchanged"
    world.put("page.html", "<html><body><h1>Doors</h1><p>It opens outwards now.</p></body></html>")
    world.run()
    status = {row["doc_id"]: row["status"] for row in world.rows("documents")}
    assert status["page.html"] == "ok"
    assert any("outwards" in row["text"] for row in world.rows())
    assert pq.read_table(world.snapshot(world.latest()) / "rejected.parquet").num_rows == 0


def test_too_many_rejections_publish_nothing(world):
    world.put("a.pdf", b"%PDF-1.7\n")
    world.put("b.md", b"")
    outcome = world.run(limits={"max_rejected_share": 0.1})
    assert (outcome.status, outcome.snapshot) == ("too_many_rejected", None)
    assert not (world.table / "latest.json").exists()
    assert not (world.snapshot(1) / "manifest.json").exists()
    # What was embedded is kept for the run that is allowed to publish it.
    outcome = world.run(limits={"max_rejected_share": 0.9})
    assert (outcome.status, outcome.snapshot) == ("published", 1)


def test_a_missing_folder_is_a_sentence_and_writes_nothing(world):
    config = world.config(sources=[{"name": "docs", "root": str(world.folder / "nowhere")}])
    from pipeline.run import run_job

    with pytest.raises(ConfigError, match="source `docs`: there is nothing at"):
        run_job(config)
    assert not world.table.exists()


def test_a_folder_that_is_no_table_is_left_alone(world):
    world.table.mkdir()
    (world.table / "holiday.jpg").write_bytes(b"picture")
    with pytest.raises(ConfigError, match=r"table: .* is no table: it holds holiday\.jpg"):
        world.run()
    assert [path.name for path in world.table.iterdir()] == ["holiday.jpg"]


def test_a_run_that_would_delete_most_of_a_source_stops(world):
    for n in range(30):
        world.put(f"many/{n}.md", f"# Page {n}\n\nText of page {n}.\n")
    world.run()
    for n in range(25):
        (world.corpus / f"many/{n}.md").unlink()
    from pipeline.run import run_job

    with pytest.raises(GuardError, match=r"source `docs`: 25 of 32 objects are gone"):
        run_job(world.config())
    assert world.latest() == 1
    assert run_job(world.config(), allow_deletes=True).snapshot == 2


def test_names_that_other_tools_trip_over_are_indexed(world):
    names = ["a#b.md", "what?.md", "100%.md", "a%20b.md", "a b.md", "[x].md", "s*r.md", "a+b.md", "a=b.md"]
    names += ["caf\u00e9.md", "cafe\u0301.md", "new\nline.md", "\U0001f600.md", "deep/er/a:b.md"]
    for name in names:
        world.put(name, f"# Title\n\nThe text of {name!r} is here.\n")
    world.run()
    rows = {row["doc_id"]: row for row in world.rows()}
    ids = {name: name.replace("#", "%23") for name in names}
    assert set(ids.values()) <= rows.keys()
    assert all(repr(name) in rows[ids[name]]["text"] for name in names)
    assert world.run().status == "unchanged"


def test_another_recipe_rebuilds_the_rows_and_pays_only_for_new_texts(world):
    world.run()
    world.settings = {"doc_type": "manual"}
    outcome = world.run()
    assert outcome.status == "published"
    assert outcome.counts["embedded"] == 0
    assert {row["doc_type"] for row in world.rows()} == {"manual"}


def test_sources_of_any_name_come_back_as_they_are(world):
    names = ["AC/DC", "a=b", "x y", "100%", "2024", "docs"]
    sources = [
        {"name": name, "root": str(world.put(f"s{n}/page.md", f"# {n}\n\nText {n}.\n").parent)}
        for n, name in enumerate(names)
    ]
    world.run(sources=sources)
    assert {row["source_name"] for row in world.rows()} == set(names)
