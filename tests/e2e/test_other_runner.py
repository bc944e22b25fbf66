"""What a runner of another kind says when it fails is one sentence."""

import apache_beam as beam
import pytest

from pipeline.run import run_job
from transforms.model.errors import GuardError, ParquetryError


class Failing(beam.Pipeline):
    said = "There is no job server at localhost:8099.\n  File x, in y"

    def __exit__(self, *what):
        raise RuntimeError(self.said)


def run(world, monkeypatch, said):
    monkeypatch.setattr(Failing, "said", said)
    monkeypatch.setattr(beam, "Pipeline", Failing)
    run_job(world.config(embedder={"kind": "hash"}), ["--runner=FlinkRunner"])


def test_a_runner_that_fails_is_a_sentence_of_its_first_words(world, monkeypatch):
    said = "There is no job server at localhost:8099.\n  File x, in y\n"
    with pytest.raises(ParquetryError) as caught:
        run(world, monkeypatch, said)
    assert str(caught.value).startswith("The runner failed, and run ")
    assert str(caught.value).endswith("published nothing: There is no job server at localhost:8099.")


def test_an_error_of_ours_comes_out_of_it_as_itself(world, monkeypatch):
    said = "Traceback\n  File x\ntransforms.model.errors.GuardError: Too much. [while running 'Check']\n"
    with pytest.raises(GuardError, match=r"^Too much\.$"):
        run(world, monkeypatch, said)
