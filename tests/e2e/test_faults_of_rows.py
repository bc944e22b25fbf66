"""Faults of the systems before that are no matter of cutting: ids, columns, metadata. By their ids, at the rows."""

import json

import pyarrow.parquet as pq
import pytest


@pytest.fixture
def table(world):
    """Rows of the files given: a size, then names and texts."""
    for file in [path for path in world.corpus.rglob("*") if path.is_file()]:
        file.unlink()

    def build(size, files, **settings):
        world.settings = {"size": {"target": size, "max": size}, "overlap": {"size": 0}, **settings}
        for name, text in files.items():
            world.put(name, text)
        world.run()
        return world.rows()

    return build


def front(fields, text):
    return "---\n" + "\n".join(f"{name}: {value}" for name, value in fields.items()) + f"\n---\n{text}"


def test_R01_R02_R24_R28_a_page_of_one_chunk_has_all_columns_and_its_own_metadata_apart(table):
    fields = {"title": "Pricing", "page_id": "cms-77", "chunk": 9, "chunk_count": 12}
    (row,) = table(200, {"a.md": front(fields, "Costs $5."), "b.md": ""})
    assert row["embed_text"].startswith("Pricing\n")
    assert (row["chunk_index"], row["chunk_count"], row["doc_id"]) == (0, 1, "a.md")
    assert json.loads(row["metadata"]) == {"page_id": "cms-77", "chunk": 9, "chunk_count": 12}


def test_R28_a_title_is_text_in_the_same_way_wherever_it_is_used(table):
    (row,) = table(200, {"a.md": front({"title": 42}, "Costs $5.")})
    assert row["embed_text"].startswith(row["doc_title"] + "\n")


def test_R03_an_empty_document_has_no_chunk_and_is_reported(table, world):
    rows = table(100, {"a.md": "", "a_2.md": " \n", "b.md": "Ink."})
    assert [row["doc_id"] for row in rows] == ["b.md"]
    rejected = pq.read_table(world.snapshot(world.latest()) / "rejected.parquet").to_pylist()
    assert {row["object_name"]: row["reason"] for row in rejected} == {"a.md": "empty", "a_2.md": "empty"}


def test_R04_R05_R22_documents_are_told_by_a_column_and_ids_never_collide(table):
    names = ["docs", "docs::3", "post_3", "post_٣", "a::1::2", "blog/post_2"]
    rows = table(12, dict.fromkeys(names, "One two. Three four. Five six."))
    assert len({row["chunk_id"] for row in rows}) == len(rows) > len(names)
    assert {row["doc_id"] for row in rows} >= {"docs", "post_3", "post_٣", "blog/post_2"}
    assert len({row["doc_id"] for row in rows}) == len(names)


def test_R20_the_title_is_stored_whole(table):
    title = ("Some very long title " * 7).strip()
    (row,) = table(400, {"a.md": front({"title": title}, "Text.")})
    assert row["doc_title"] == title
    assert len(row["embed_text"].split("\n")[0]) <= 120


def test_R23_X02_an_inserted_paragraph_leaves_the_other_ids_as_they_are(table, world):
    paragraphs = [f"Paragraph {number} has a few words." for number in range(12)]
    before = table(40, {"p.md": "\n\n".join(paragraphs)})
    assert [row["chunk_index"] for row in before] == list(range(12))
    world.put("p.md", "\n\n".join([*paragraphs[:3], "A new one of its own, quite short.", *paragraphs[3:]]))
    world.run()
    after = world.rows()
    assert len({row["chunk_id"] for row in before} - {row["chunk_id"] for row in after}) <= 1
    world.put("p.md", paragraphs[0])
    world.run()
    assert len(world.rows()) == 1


def test_R25_G13_metadata_is_one_text_of_its_own_in_every_row(table):
    rows = table(40, {"a.md": front({"tags": "[a, b]"}, "One two three four five. " * 9)})
    assert len(rows) > 2
    assert {row["metadata"] for row in rows} == {'{"tags": ["a", "b"]}'}


def test_G12_Y31_M18_every_chunk_has_the_common_columns(table):
    rows = table(40, {"a.md": "# Title\n\n" + "One two three four five. " * 9})
    assert [row["prev_id"] for row in rows] == [None, *(row["chunk_id"] for row in rows[:-1])]
    assert [row["next_id"] for row in rows] == [*(row["chunk_id"] for row in rows[1:]), None]
    for number, row in enumerate(rows):
        assert (row["chunk_index"], row["chunk_count"]) == (number, len(rows))
        assert (row["section_title"], row["doc_title"]) == ("Title", "Title")
        assert len(row["text"]) == row["chars"] == row["end"] - row["start"]


def test_M17_a_hundred_and_one_sections_are_in_order_of_a_number(table):
    text = "\n\n".join(f"## S{number}\n\nText {number}." for number in range(101))
    rows = table(20, {"n#1.md": text}, strategy="headings", headings={"strict": True})
    assert [row["chunk_index"] for row in rows] == list(range(101))
    assert [row["section_title"] for row in rows] == [f"S{number}" for number in range(101)]
    assert len({row["chunk_id"] for row in rows}) == 101


def test_G16_another_model_of_the_sentences_is_another_recipe(table, world):
    (first,) = {row["config_id"] for row in table(100, {"a.md": "One. Two."}, strategy="semantic")}
    world.settings["semantic"] = {"embedder": {"kind": "hash"}}
    world.run()
    (second,) = {row["config_id"] for row in world.rows()}
    assert first != second


def test_entities_are_read_from_a_file_and_a_changed_one_is_another_recipe(table, world, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("P-101\n")
    entities = {"entities": {"vocabulary": str(names)}}
    (before,) = table(100, {"a.md": "P-101 and P-102."}, **entities)
    names.write_text("P-102\n")
    world.run()
    (after,) = world.rows()
    assert (before["entity_id"], after["entity_id"]) == ("P-101", "P-102")
    assert before["config_id"] != after["config_id"]
