"""Variants of a job compared by questions with known answers."""

import json
import re
from pathlib import Path

import pytest
import yaml

from pipeline.commands import evaluate as command
from pipeline.evaluate.halves import in_first_half
from pipeline.evaluate.run import evaluate
from pipeline.evaluate.settings import load_evaluation
from transforms.model.errors import ConfigError
from transforms.model.fusion import DEFAULT

ROOT = Path(__file__).parents[3]
FILES = {
    "pump.md": "# Pump\n\nIt gives 12 litres a minute.\n\n## Start\n\nOpen the valve before you start the pump.\n",
    "radio.md": "# Radio\n\nThe radio speaks on channel seven.\n",
    "soup.md": "# Soup\n\nCut the onions and cook the soup for an hour.\n",
}
QUESTIONS = [
    {
        "id": "q1",
        "question": "How long do I cook the soup?",
        "documents": ["docs/soup.md"],
        "spans": ["for an hour"],
    },
    {"id": "q2", "question": "Which channel does the radio use?", "documents": ["docs/radio.md"]},
]


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "job.yaml").write_text(
        f"version: 1\ntable: {tmp_path}/table\nsources:\n  - {{name: docs, root: {tmp_path}/corpus}}\n"
    )
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    return tmp_path


def config(files, variants):
    path = files / "evaluate.yaml"
    path.write_text(
        f"job: {files}/job.yaml\nquestions: {files}/questions.jsonl\nvariants: {json.dumps(variants)}\n"
    )
    return path


def test_each_variant_answers_and_equal_texts_are_embedded_once(files):
    variants = [{"name": "whole"}, {"name": "again"}, {"name": "cut", "size": {"target": 60, "max": 60}}]
    found = evaluate(*load_evaluation(config(files, variants)))
    whole, again, cut = (result for result in found.results if result.by == "dense")
    assert found.documents == 3
    assert (whole.chunks, again.chunks, cut.chunks) == (3, 3, 4)
    # What both cut alike has its vectors already: only the two pieces of the pump are new.
    assert (whole.embedded, again.embedded, cut.embedded) == (3, 0, 2)
    for result in found.results:
        assert [one.rank for one in result.asked] == [1, 1]
        assert result.measures["recall@1"].mean == 1
        assert result.measures["span recall"].mean == 1
    assert whole.measures == again.measures


def test_words_are_retrieved_up_to_the_limit_and_no_further(files):
    path = config(files, [{"name": "a"}])
    path.write_text(path.read_text() + "retrieved_words: 11\n")
    result = evaluate(*load_evaluation(path)).results[0]
    # "# Soup Cut the onions and cook the soup for an hour ." has 13 words; the answer is the 10th to the 12th.
    [asked, _] = result.asked
    assert asked.measures["span recall"] == pytest.approx(2 / 3)
    assert asked.measures["span precision"] == pytest.approx(2 / 11)
    assert asked.measures["span iou"] == pytest.approx(2 / 12)


def test_the_page_and_json_have_the_same_figures(files, capsys):
    page = files / "page.html"
    command.run(
        config(files, [{"name": "a"}, {"name": "b", "strategy": "sections"}]), html=page, as_json=True
    )
    record = json.loads(capsys.readouterr().out)
    mean = record["results"][1]["measures"]["mrr"]["mean"]
    assert record["results"][1]["questions"][0]["found"][0] == "docs/soup.md"
    plots = re.findall(r'<script type="application/json">(.*?)</script>', page.read_text())
    points = [json.loads(plot)["data"]["datasets"][0]["data"][1] for plot in plots]
    assert mean in points


def test_counts_on_the_page_and_below_the_table_agree_with_their_nouns(files, capsys):
    (files / "questions.jsonl").write_text((files / "questions.jsonl").read_text().splitlines()[0])
    page = files / "page.html"
    command.run(config(files, [{"name": "a"}]), html=page, as_json=False)
    assert "1 question, 3 documents; in brackets" in capsys.readouterr().out
    assert "1 question over 3 documents" in page.read_text()


def test_the_table_has_a_line_a_measure(files, capsys):
    command.run(config(files, [{"name": "a"}]), html=None, as_json=False)
    shown = capsys.readouterr().out
    assert re.search(r"^recall@1 +1\.000 \[1\.00, 1\.00\]", shown, re.MULTILINE)
    assert "2 questions, 3 documents" in shown


def test_a_variant_is_searched_by_vectors_by_words_and_by_both(files, capsys):
    variants = [{"name": "a"}, {"name": "b", "sparse": {"kind": "none"}}]
    found = evaluate(*load_evaluation(config(files, variants)))
    assert [(result.name, result.by) for result in found.results] == [
        ("a", "dense"), ("a", "sparse"), ("a", "hybrid"), ("b", "dense"),
    ]  # fmt: skip
    assert found.results[0].measures == found.results[3].measures
    assert found.halves == ()
    command.run(config(files, variants), html=files / "page.html", as_json=False)
    shown = capsys.readouterr().out
    assert "No weight was chosen: a half of the questions has fewer than 10." in shown
    assert [line for line in shown.splitlines() if line.strip() in ("dense", "sparse", "hybrid")]
    hybrid = shown[shown.index("hybrid") :]
    # The variant without sparse vectors has no figure there.
    assert re.search(r"^mrr +1\.000 \[1\.00, 1\.00\] *$", hybrid, re.MULTILINE)
    page = (files / "page.html").read_text()
    assert "<td>sparse</td>" in page
    # Beside other ways, vectors alone are called what they are.
    assert re.findall(r"<th>(\w, \w+)</th>", page) == ["a, dense", "a, sparse", "a, hybrid", "b, dense"]


NAMES = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("abo", "evi", "iru")]


@pytest.fixture
def many(files):
    """As many questions, each with the name of one file; to the model any two texts are unrelated."""
    for name in NAMES:
        (files / "corpus" / f"{name}.md").write_text(f"The part {name} is kept in its own drawer.\n")
    asked = [{"question": f"Where is {name}?", "documents": [f"docs/{name}.md"]} for name in NAMES]
    (files / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    return config(files, [{"name": "a", "embedder": {"kind": "hash", "dimension": 16}}])


def test_the_weight_is_chosen_on_one_half_and_measured_on_the_other(many, capsys):
    (half,) = evaluate(*load_evaluation(many)).halves
    assert half.chosen_on == sum(in_first_half(f"Where is {name}?") for name in NAMES)
    assert half.chosen_on + half.measured_on == len(NAMES)
    assert half.measure == "mrr"
    assert half.fusion.weight > DEFAULT.weight
    assert len(half.tried) == 18
    assert dict(half.tried)[half.fusion] == max(mean for _, mean in half.tried)
    means = {way: measures["mrr"].mean for way, measures in half.measures.items()}
    assert means["dense"] < means["hybrid"] < means["chosen"] <= means["sparse"] == 1.0
    command.run(many, html=None, as_json=False)
    said = " ".join(capsys.readouterr().out.split())
    assert (
        f"a: {half.fusion}, chosen on {half.chosen_on} questions by their mrr; on the {half.measured_on}"
        in said
    )
    command.run(many, html=None, as_json=True)
    (record,) = json.loads(capsys.readouterr().out)["halves"]
    assert record["measures"]["chosen"]["mrr"]["mean"] == means["chosen"]
    assert record["fusion"] == {"method": half.fusion.method, "weight": half.fusion.weight}
    assert record["default"] == {"method": "sum", "weight": 0.4}


def test_the_line_for_the_configuration_is_said_until_the_job_has_it(many, capsys):
    before = evaluate(*load_evaluation(many))
    (half,) = before.halves
    assert half.advice == f"search: {{fusion: {half.fusion.method}, weight: {half.fusion.weight}}}"
    command.run(many, html=many.parent / "page.html", as_json=False)
    assert f"`{half.advice}` keeps it" in capsys.readouterr().out
    assert half.advice in (many.parent / "page.html").read_text(encoding="utf-8")
    keys = yaml.safe_load(many.read_text())
    keys["variants"][0] |= yaml.safe_load(half.advice)
    many.write_text(yaml.safe_dump(keys))
    after = evaluate(*load_evaluation(many))
    (kept,) = after.halves
    assert (kept.default, kept.fusion, kept.advice) == (half.fusion, half.fusion, "")
    assert kept.measures["hybrid"] == kept.measures["chosen"] == half.measures["chosen"]
    worse, better = (
        next(result.measures["mrr"].mean for result in found.results if result.by == "hybrid")
        for found in (before, after)
    )
    assert worse < better


def test_the_half_of_a_question_depends_on_its_words_alone():
    assert [in_first_half(f"Question {number}?") for number in range(8)] == [
        False, False, False, True, True, False, True, True,
    ]  # fmt: skip
    assert 450 < sum(in_first_half(f"Question {number}?") for number in range(1000)) < 550


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ([{"name": "a", "sparse": {"kind": "bm26"}}], "variants[0].sparse."),
        ([{"name": "a", "search": {"weight": 2}}], "variants[0].search.weight"),
        ([{"name": "a"}, {"name": "a"}], "variants: more than one is called a"),
        ([{"name": "a", "strategy": "sectons"}], "variants[0].strategy: must be one of"),
        ([{"name": "a", "embedder": {"kind": "statik"}}], "variants[0].embedder."),
        ([{"strategy": "sections"}], "variants[0].name: is missing, and it is needed"),
        ([], "variants:"),
    ],
)
def test_what_is_wrong_with_the_file_is_told_by_its_place(files, variants, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_evaluation(config(files, variants))


def test_a_job_is_no_evaluation_and_a_slip_in_a_key_is_told(files):
    with pytest.raises(
        ConfigError, match=r"job\.yaml is a job\. To evaluate takes a file that names it: `job`"
    ):
        load_evaluation(files / "job.yaml")
    path = files / "slip.yaml"
    path.write_text("job: job.yaml\nquestoins: questions.jsonl\nvariants: [{name: a}]\n")
    with pytest.raises(ConfigError) as failure:
        load_evaluation(path)
    assert str(failure.value).splitlines()[1:] == [
        "  questions: is missing, and it is needed",
        "  questoins: is no key here; did you mean `questions`?",
    ]


def test_the_example_of_the_repository_loads():
    settings, variants = load_evaluation(ROOT / "configs" / "evaluate.yaml")
    assert settings.questions.name == "questions.jsonl"
    assert variants[0].name == "as the demo"
