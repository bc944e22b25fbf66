"""Nights in a row: the rows, and what was opened, extracted, chunked and embedded for them."""

import os
import shutil

import pytest

from pipeline.run import run_job
from transforms.storage.local import LocalStore

HASH = {"kind": "hash", "dimension": 4}
PAGE = (
    "# {name}\n\nThe first paragraph of {name} is here.\n\n## Second\n\nThe second paragraph of {name}.\n"
)


@pytest.fixture
def nights(world, monkeypatch):
    """The job without Beam over four small pages, each of two chunks, in shards of their own folder's size."""
    for path in world.corpus.rglob("*.*"):
        path.unlink()
    for name in ("one", "two", "three", "four"):
        world.put(f"{name}.md", PAGE.format(name=name))
    world.settings = {"size": {"target": 50, "max": 60}, "overlap": {"size": 0}}
    return Nights(world, monkeypatch)


class Nights:
    """Runs of one table, with what each of them cost."""

    def __init__(self, world, monkeypatch):
        self.world = world
        self.read = []
        real = LocalStore.read

        def counted(store, name, token=None, limit=None):
            if store.root == str(world.corpus):
                self.read.append(name)
            return real(store, name, token, limit)

        monkeypatch.setattr(LocalStore, "read", counted)

    def run(self, scope=None, **changes):
        """The run's outcome; ``cost`` is objects opened, documents extracted and chunked, texts embedded."""
        self.read.clear()
        config = self.world.config(**({"embedder": HASH} | changes))
        self.outcome = run_job(config, allow_deletes=True, **({"scope": scope} if scope else {}))
        return self.outcome

    @property
    def cost(self):
        work, embedded = self.outcome.work, self.outcome.counts["embedded"]
        assert work["opened"] == len(self.read)
        return work["opened"], work["extracted"], work["chunked"], embedded

    def content(self, table=None):
        """The published rows without what tells one history from another."""
        rows = {}
        for kind in ("chunks", "documents"):
            rows[kind] = [
                {name: value for name, value in row.items() if name not in ("changed_in", "object_token")}
                for row in self.world.rows(kind)
            ]
        return rows

    def from_scratch(self, **changes):
        """The rows of a first run over the corpus as it is."""
        table = self.world.table
        aside = table.with_name("aside")
        table.rename(aside)
        try:
            self.run(**changes)
            return self.content()
        finally:
            shutil.rmtree(table)
            aside.rename(table)


def keys(world):
    return {row["embed_key"] for row in world.rows()}


def ids(world, kind="documents"):
    return [row["doc_id"] for row in world.rows(kind)]


def test_a_first_night_pays_for_everything_and_a_second_for_nothing(nights):
    nights.run()
    assert nights.cost == (4, 4, 4, 8)
    assert nights.run().status == "unchanged"
    assert nights.cost == (0, 0, 0, 0)


def test_an_edited_paragraph_is_read_cut_and_embedded_alone(nights, world):
    nights.run()
    world.put("two.md", PAGE.format(name="two").replace("second paragraph", "other paragraph"))
    nights.run()
    assert nights.cost == (1, 1, 1, 1)
    assert nights.content() == nights.from_scratch()


def test_a_touched_file_is_read_and_nothing_else(nights, world):
    nights.run()
    before = nights.content()
    os.utime(world.corpus / "one.md", ns=(1, 1))
    nights.run()
    assert nights.cost == (1, 0, 0, 0)
    assert nights.content() == before
    assert nights.run().status == "unchanged"


def test_a_whole_corpus_written_again_with_the_same_bytes_embeds_nothing(nights, world):
    nights.run()
    before = world.rows()
    for n, path in enumerate(sorted(world.corpus.iterdir())):
        os.utime(path, ns=(n, n))
    nights.run()
    assert nights.cost == (4, 0, 0, 0)
    assert world.rows() == before


def test_a_touched_file_is_not_even_read_where_the_store_knows_its_checksum(nights, world, monkeypatch):
    give_checksums(monkeypatch)
    nights.run()
    os.utime(world.corpus / "one.md", ns=(1, 1))
    nights.run()
    assert nights.cost == (0, 0, 0, 0)
    assert nights.outcome.status == "published"
    assert nights.run().status == "unchanged"
    assert nights.cost == (0, 0, 0, 0)


def give_checksums(monkeypatch):
    """A folder that knows the checksums of its files, as a bucket does."""
    import hashlib
    from dataclasses import replace
    from pathlib import Path

    real = LocalStore.list

    def with_checksums(store, prefix=""):
        for page in real(store, prefix):
            yield [
                replace(
                    info,
                    checksum="md5:" + hashlib.md5(Path(store.root, info.name).read_bytes()).hexdigest(),
                )
                for info in page
            ]

    monkeypatch.setattr(LocalStore, "list", with_checksums)


def test_a_renamed_file_takes_its_text_and_vectors_along(nights, world):
    nights.run()
    (world.corpus / "two.md").rename(world.corpus / "zwei.md")
    nights.run()
    assert nights.cost == (1, 0, 1, 0)
    assert ids(world) == ["four.md", "one.md", "three.md", "zwei.md"]
    assert nights.content() == nights.from_scratch()


def test_a_file_of_another_type_takes_its_vectors_along_and_not_its_text(nights, world):
    nights.run()
    (world.corpus / "two.md").rename(world.corpus / "two.txt")
    nights.run()
    assert nights.cost[1] == 1
    assert nights.content() == nights.from_scratch()


def test_an_object_of_several_documents_takes_all_of_them_along(nights, world):
    lines = [f'{{"id": "{n}", "text": "Record number {n} of the file."}}' for n in range(5)]
    world.put("records.jsonl", "\n".join(lines) + "\n")
    nights.run()
    assert len([row for row in world.rows("documents") if "records" in row["object_name"]]) == 5
    (world.corpus / "records.jsonl").rename(world.corpus / "moved.jsonl")
    nights.run()
    assert nights.cost[:2] == (1, 0)
    assert len([row for row in world.rows("documents") if row["object_name"] == "moved.jsonl"]) == 5
    assert nights.content() == nights.from_scratch()


def test_a_folder_that_moved_is_read_once_and_embeds_nothing(nights, world):
    nights.run()
    for name in ("one", "two", "three", "four"):
        world.put(f"moved/{name}.md", (world.corpus / f"{name}.md").read_text())
        (world.corpus / f"{name}.md").unlink()
    nights.run()
    assert nights.cost == (4, 0, 4, 0)
    assert nights.content() == nights.from_scratch()


def test_two_files_of_one_content_are_two_documents_that_paid_once(nights, world):
    world.put("copy.md", PAGE.format(name="one"))
    nights.run()
    assert nights.cost == (5, 5, 5, 8)
    assert "copy.md" in ids(world)
    (world.corpus / "one.md").unlink()
    nights.run()
    assert nights.cost == (0, 0, 0, 0)
    assert (
        {"copy.md"}
        == {"copy.md", "one.md"} & set(ids(world))
        == {"copy.md", "one.md"} & set(ids(world, "chunks"))
    )
    assert nights.content() == nights.from_scratch()


def test_a_copy_of_a_later_night_pays_nothing_and_outlives_its_origin(nights, world):
    nights.run()
    world.put("copy.md", PAGE.format(name="one"))
    nights.run()
    assert nights.cost == (1, 0, 1, 0)
    (world.corpus / "one.md").unlink()
    nights.run()
    assert nights.content() == nights.from_scratch()


def test_two_files_that_swap_names_swap_their_rows(nights, world):
    nights.run()
    one, two = (world.corpus / f"{name}.md" for name in ("one", "two"))
    one.rename(world.corpus / "aside.md")
    two.rename(one)
    (world.corpus / "aside.md").rename(two)
    nights.run()
    assert nights.cost == (2, 0, 2, 0)
    assert nights.content() == nights.from_scratch()


def test_a_file_that_grows_and_shrinks_again_finds_its_old_vectors(nights, world):
    nights.run()
    world.put(
        "one.md", PAGE.format(name="one") + "\n## Third\n\nA paragraph more stands at the end here.\n"
    )
    before = keys(world)
    nights.run()
    # The last chunk of before has its line break, and the new one.
    assert nights.cost == (1, 1, 1, len(keys(world) - before)) == (1, 1, 1, 2)
    assert len([row for row in world.rows() if row["doc_id"] == "one.md"]) == 3
    world.put("one.md", PAGE.format(name="one"))
    nights.run()
    assert nights.cost == (1, 0, 1, 0)
    assert nights.content() == nights.from_scratch()


def test_a_page_that_becomes_shorter_keeps_none_of_its_last_chunks(nights, world):
    def page(count):
        return "\n\n".join(f"## Part {n}\n\nThe text of part number {n} stands here." for n in range(count))

    world.put("long.md", page(12))
    nights.run()
    assert len([row for row in world.rows() if row["doc_id"] == "long.md"]) == 12
    world.put("long.md", page(7))
    nights.run()
    rows = [row for row in world.rows() if row["doc_id"] == "long.md"]
    assert (len(rows), {row["chunk_count"] for row in rows}) == (7, {7})
    # The last of them ends the file now.
    assert nights.cost == (1, 1, 1, 1)


def test_a_file_that_breaks_keeps_its_rows_and_mended_pays_for_nothing(nights, world):
    nights.run()
    before = nights.content()
    world.put("one.md", b"")
    nights.run()
    assert nights.cost == (1, 0, 0, 0)
    assert [row["status"] for row in world.rows("documents")] == ["ok", "stale", "ok", "ok"]
    assert nights.run().status == "unchanged"
    world.put("one.md", PAGE.format(name="one"))
    nights.run()
    assert nights.cost[3] == 0
    assert nights.content() == before == nights.from_scratch()


def test_a_text_of_a_page_that_was_gone_for_a_night_is_found_in_an_older_snapshot(nights, world):
    nights.run()
    (world.corpus / "one.md").unlink()
    nights.run()
    world.put("one.md", PAGE.format(name="one"))
    nights.run()
    assert nights.cost == (1, 0, 1, 0)


def test_markup_that_changes_no_text_is_extracted_and_not_cut_again(nights, world):
    world.put("page.html", "<html><body><h1>Doors</h1><p>The door opens inwards.</p></body></html>")
    nights.run()
    before = world.rows()
    world.put(
        "page.html", "<html><body><div><h1>Doors</h1></div><p>The door opens inwards.</p></body></html>"
    )
    nights.run()
    assert nights.cost == (1, 1, 0, 0)
    assert world.rows() == before


def test_another_chunker_reads_and_extracts_nothing(nights, world):
    nights.run()
    world.settings = {"size": {"target": 200, "max": 300}, "overlap": {"size": 0}}
    nights.run()
    assert nights.cost == (0, 0, 4, 4)
    assert nights.content() == nights.from_scratch()


def test_a_chunker_of_before_finds_its_vectors_in_the_old_snapshot(nights, world):
    nights.run()
    first = nights.content()
    small = world.settings
    world.settings = {"size": {"target": 200, "max": 300}, "overlap": {"size": 0}}
    nights.run()
    world.settings = small
    nights.run()
    assert nights.cost == (0, 0, 4, 0)
    assert nights.content() == first


def test_another_max_embeds_only_what_changes_by_it(nights, world):
    world.put("long.md", "# Long\n\n" + "A sentence of the long page. " * 8)
    world.settings = {"size": {"target": 300, "max": 300}, "overlap": {"size": 0}}
    nights.run()
    before = {row["embed_key"] for row in world.rows()}
    world.settings = {"size": {"target": 150, "max": 150}, "overlap": {"size": 0}}
    nights.run()
    new = {row["embed_key"] for row in world.rows()} - before
    assert {row["doc_id"] for row in world.rows() if row["embed_key"] in new} == {"long.md"}
    assert nights.cost == (0, 0, 5, len(new))
    assert nights.content() == nights.from_scratch()


def test_another_model_reads_extracts_and_cuts_nothing(nights, world):
    nights.run()
    other = {"kind": "hash", "dimension": 8}
    nights.run(embedder=other)
    assert nights.cost == (0, 0, 0, 8)
    assert {len(row["embedding"]) for row in world.rows()} == {8}
    assert nights.content() == nights.from_scratch(embedder=other)


def test_a_model_that_counts_otherwise_counts_the_same_chunks_again(nights, world):
    nights.run()
    nights.run(embedder={"kind": "static"})
    assert nights.cost == (0, 0, 0, 8)
    assert {row["counter"] for row in world.rows()} == {"static-en-256"}
    assert nights.content() == nights.from_scratch(embedder={"kind": "static"})


def test_sizes_that_another_counter_counts_stay_under_another_model(nights, world):
    world.settings = {"size": {"unit": "tokens", "counter": "chars/4", "target": 20, "max": 30}}
    world.settings |= {"overlap": {"size": 0}}
    nights.run()
    nights.run(embedder={"kind": "static"})
    assert nights.cost[:3] == (0, 0, 0)
    assert nights.content() == nights.from_scratch(embedder={"kind": "static"})


def test_a_budget_of_the_composed_text_is_counted_by_the_new_model(nights, world):
    world.settings |= {"compose": {"max_tokens": 20}}
    nights.run()
    nights.run(embedder={"kind": "static"})
    assert nights.cost[:3] == (0, 0, 4)
    assert nights.content() == nights.from_scratch(embedder={"kind": "static"})


def test_a_model_of_before_finds_all_its_vectors(nights, world):
    nights.run()
    first = nights.content()
    nights.run(embedder={"kind": "hash", "dimension": 8})
    nights.run()
    assert nights.cost == (0, 0, 0, 0)
    assert nights.content() == first


def test_a_model_of_before_finds_its_vectors_whatever_forms_are_stored_besides(nights):
    nights.run()
    nights.run(embedder={"kind": "hash", "dimension": 8})
    more = {**HASH, "also_store": ["int8"]}
    nights.run(embedder=more)
    assert nights.cost == (0, 0, 0, 0)
    assert nights.content() == nights.from_scratch(embedder=more)


def test_a_model_with_a_shorter_input_cuts_again_and_extracts_nothing(nights):
    nights.run()
    short = {"kind": "hash", "dimension": 4, "max_tokens": 16}
    nights.run(embedder=short)
    assert nights.cost[:3] == (0, 0, 4)
    assert nights.content() == nights.from_scratch(embedder=short)


def test_without_stored_text_another_chunker_costs_the_reading(nights, world):
    world.settings |= {"store_text": False}
    nights.run()
    world.settings |= {"size": {"target": 200, "max": 300}}
    nights.run()
    assert nights.cost == (4, 4, 4, 4)
    assert nights.content() == nights.from_scratch()


def test_without_stored_text_another_model_reads_nothing(nights, world):
    world.settings |= {"store_text": False}
    nights.run()
    nights.run(embedder={"kind": "hash", "dimension": 8})
    assert nights.cost == (0, 0, 0, 8)


def test_another_extractor_redoes_everything_but_equal_texts(nights, world):
    nights.run()
    world.settings |= {"extract": {"encoding": "utf-8"}}
    nights.run()
    assert nights.cost == (4, 4, 0, 0)
    assert nights.content() == nights.from_scratch()


def test_chunks_that_shards_have_in_common_are_embedded_once(nights, world):
    text = "# Licence\n\nThe same words stand at the end of every page.\n"
    for n in range(6):
        world.put(f"licence-{n}.md", text + "x" * 0)
    small = {"workers": 1, "shard_bytes": 1024}
    for n in range(6):
        world.put(f"pad/{n}/page.md", text + f"\n## Own\n\n{'Own words of this page. ' * 40}{n}\n")
    nights.run(run=small)
    chunks = [row for row in world.rows() if "same words" in row["text"]]
    assert len(chunks) == 12
    assert len({path.name for path in world.snapshot(1).rglob("chunks/**/*.parquet")}) > 2
    assert nights.outcome.counts["embedded"] == len({row["embed_key"] for row in world.rows()})


def test_a_text_of_another_shard_is_found_where_it_is(nights, world):
    small = {"workers": 1, "shard_bytes": 1024}
    nights.run(run=small)
    world.put("new/page.md", PAGE.format(name="two").replace("The first", "A first"))
    nights.run(run=small)
    assert nights.cost == (1, 1, 1, 1)


def test_a_source_that_is_added_takes_over_what_another_has_paid_for(nights, world):
    nights.run()
    other = world.folder / "other"
    shutil.copytree(world.corpus, other)
    sources = [
        {"name": "docs", "root": str(world.corpus), **world.settings},
        {"name": "more", "root": str(other), **world.settings},
    ]
    nights.run(sources=sources)
    assert nights.outcome.counts["embedded"] == 0
    assert nights.outcome.work["extracted"] == 0
    assert len(world.rows("documents")) == 8


def test_a_failed_document_is_not_left_with_the_vectors_of_another_model(nights, world):
    nights.run()
    world.put("one.md", b"")
    nights.run()
    nights.run(embedder={"kind": "hash", "dimension": 8})
    assert {len(row["embedding"]) for row in world.rows()} == {8}
    assert [row["status"] for row in world.rows("documents")] == ["ok", "stale", "ok", "ok"]


def test_the_text_behind_a_chunk_embeds_again_only_what_it_changes(nights, world):
    world.put(
        "one.md", "# One\n\nThe first paragraph of one is here.\n\nAnother one follows it, and the last.\n"
    )
    nights.run()
    world.settings["overlap"] = {"size": 0, "after": 20}
    nights.run()
    rows = [row for row in world.rows() if row["context_after_start"] is not None]
    # Of the other pages every chunk ends where a heading begins.
    assert [row["doc_id"] for row in rows] == ["one.md"]
    assert rows[0]["embed_text"].endswith("\nAnother one follows")
    assert nights.cost == (0, 0, 4, 1)
    assert [row["text"] for row in world.rows(number=1)] == [row["text"] for row in world.rows(number=2)]
