"""The report of a snapshot, and what stops one that is bad."""

import json
import re

import pytest
from lxml import html as lxml_html

from pipeline.run import run_job
from transforms.model.errors import ConfigError, GuardError

QUESTIONS = [
    {"question": "How long do I cook the soup?", "documents": ["docs/soup.md"]},
    {"question": "Which channel does the radio use?", "documents": ["docs/notes/radio.txt"]},
]


@pytest.fixture
def night(world):
    world.put("soup.md", "# Soup\n\nCut the onions and cook the soup for an hour.\n")

    def run(**changes):
        return run_job(world.config(**changes), allow_deletes=True)

    return run


def report(world, number):
    return json.loads((world.snapshot(number) / "report.json").read_text())


def page(world, number):
    return (world.snapshot(number) / "report.html").read_text(encoding="utf-8")


def gate(world, **least):
    path = world.folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    return {"questions": str(path), **least}


def test_the_report_counts_what_the_manifest_counts_and_what_a_person_should_see(night, world):
    world.put("copy.md", "# Soup\n\nCut the onions and cook the soup for an hour.\n")
    world.put("bad.pdf", b"%PDF-1.4 and no more")
    world.put("tiny.txt", "Hm.\n")
    night()
    found = report(world, 1)
    assert found["counts"] == world.manifest(1)["counts"]
    assert found["sources"] == {"docs": found["counts"]}
    assert found["before"] == {}
    assert found["vectors"] == "static-en-256@1, 256 dimensions (kind static)"
    terms = world.manifest(1)["terms"]["rows"]
    assert found["sparse"] == f"{world.manifest(1)['sparse']}, {terms} terms (kind bm25)"
    assert f"Sparse vectors: {found['sparse']}." in page(world, 1)
    figures = found["figures"]
    assert (figures["chunks_seen"], figures["documents_seen"]) == (len(world.rows()), 5)
    assert (figures["repeated"], figures["tiny"], figures["oversize"], figures["without_vector"]) == (
        2,
        1,
        0,
        0,
    )
    [repeated] = figures["most_repeated"]
    assert (repeated["count"], repeated["text"].splitlines()[0]) == (2, "# Soup")
    assert figures["largest"][0]["chars"] == max(row["text_chars"] for row in world.rows("documents"))
    [rejected] = found["rejected_documents"]
    assert (rejected["document"], rejected["stage"]) == ("docs/bad.pdf", "extract")
    [histogram] = figures["sizes"].values()
    assert sum(histogram["counts"]) == len(world.rows())
    assert (histogram["target"], histogram["most"]) == (1000, 1500)
    assert list(found["seconds"]) == ["read", "extract", "chunk", "embed", "write"]


def test_the_page_shows_the_numbers_of_the_record(night, world):
    night()
    world.put("soup.md", "# Soup\n\nCut the onions.\n")
    world.put("new.md", "# New\n\nWords.\n")
    night()
    record, tree = report(world, 2), lxml_html.fromstring(page(world, 2))
    shown = {card.get("data-count"): card.findtext("b") for card in tree.xpath("//*[@data-count]")}
    assert shown == {name: f"{count:,}" for name, count in record["counts"].items()}
    [row] = tree.xpath("//tr[@data-source='docs']")
    cells = [" ".join(cell.text_content().split()) for cell in row.findall("td")]
    assert cells[:4] == ["docs", "4 +1", "0", f"{record['counts']['chunks']} +1"]
    plots = [json.loads(script.text) for script in tree.xpath("//figure/script")]
    assert plots[0]["data"]["datasets"][0]["data"] == [record["counts"]["documents"]]


def test_the_page_fetches_nothing_and_holds_texts_as_texts(night, world):
    text = "</script><script>alert(1)</script> {{ 7 * 7 }}\n"
    world.put("<b>a.md", text)
    world.put("<b>b.md", text)
    night()
    assert "default-src 'none'" in page(world, 1)
    assert "<script>alert" not in page(world, 1)
    assert "<b>a.md" not in page(world, 1)
    assert not re.search(r"<(?:link|img|iframe)\b", page(world, 1))


def test_a_share_over_its_threshold_publishes_nothing_and_says_what_to_look_at(night, world):
    night()
    world.put("tiny.txt", "Hm.\n")
    said = r"1 of 4 chunks have less than 20 characters, more than quality\.max_tiny_share = 0\.1 .*report\.html"
    with pytest.raises(GuardError, match=said):
        night(quality={"max_tiny_share": 0.1})
    assert world.latest() == 1
    # What was done is not done again under another threshold.
    outcome = night(quality={"max_tiny_share": 0.5})
    assert (outcome.status, world.latest()) == ("published", 2)


def test_a_snapshot_that_answers_is_published_with_its_measures(night, world):
    outcome = night(gate=gate(world, **{"recall@1": 1.0, "mrr": 1.0}))
    assert outcome.status == "published"
    assert report(world, 1)["retrieval"] == {"recall@1": 1.0, "mrr": 1.0}


def test_a_snapshot_that_retrieves_worse_is_refused_and_the_last_one_stays(night, world):
    night(gate=gate(world, **{"recall@1": 1.0}))
    (world.corpus / "soup.md").unlink()
    with pytest.raises(
        GuardError,
        match=r"recall@1 is 0\.500, under gate\.recall@1 = 1\.0; 1 of 2 questions name no document .*, as line 1",
    ):
        night(gate=gate(world, **{"recall@1": 1.0}))
    assert world.latest() == 1


def test_questions_are_asked_as_search_asks_by_words_too_where_the_table_has_them(night, world):
    for number in range(101, 111):
        world.put(
            f"p{number}.md", f"Pump P-{number} moves water from the tank to the boiler and back again.\n"
        )
    path = world.folder / "pumps.jsonl"
    asked = [{"question": f"Where is P-{n}?", "documents": [f"docs/p{n}.md"]} for n in range(101, 111)]
    path.write_text("".join(json.dumps(one) + "\n" for one in asked))
    # To this model any two texts that differ are unrelated.
    keys = {"gate": {"questions": str(path), "mrr": 0}, "embedder": {"kind": "hash", "dimension": 16}}
    night(**keys, sparse={"kind": "none"})
    night(**keys)
    by_vectors, by_both = (report(world, number)["retrieval"]["mrr"] for number in (1, 2))
    assert by_vectors < 0.5 < by_both


def test_a_question_may_name_its_document_by_uri(night, world):
    path = world.folder / "uri.jsonl"
    uri = str(world.corpus / "soup.md")
    path.write_text(json.dumps({"question": "How long do I cook the soup?", "documents": [uri]}) + "\n")
    night(gate={"questions": str(path), "recall@1": 1.0})
    assert report(world, 1)["retrieval"] == {"recall@1": 1.0}


def test_questions_that_cannot_be_read_are_told_once_however_many_sources_there_are(world):
    config = world.config(gate={"questions": str(world.folder / "none.jsonl"), "mrr": 0.5})
    other = config.sources[0].model_copy(update={"name": "others"})
    with pytest.raises(ConfigError) as raised:
        run_job(config.model_copy(update={"sources": (*config.sources, other)}))
    head, fault = str(raised.value).splitlines()
    assert head == "This job cannot run; nothing was done:"
    assert fault.startswith(f"  gate: {world.folder / 'none.jsonl'} cannot be read")


def test_a_records_file_is_answered_by_any_of_its_records(night, world):
    world.put(
        "all.jsonl", '{"id": "a", "text": "The moon is round."}\n{"id": "b", "text": "Cheese is yellow."}\n'
    )
    world.settings = {"extract": {"records": {"id": "id", "text": ["text"]}}}
    path = world.folder / "moon.jsonl"
    path.write_text(
        json.dumps({"question": "What is yellow? cheese", "documents": ["docs/all.jsonl"]}) + "\n"
    )
    assert night(gate={"questions": str(path), "recall@1": 1.0}).status == "published"
