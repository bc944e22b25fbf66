"""Options for Beam that Beam would pass over in silence are refused."""

import pytest

from pipeline.beam_options import check_beam_options, runner_of
from transforms.model.errors import ConfigError


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--direct_num_workers=2"],
        ["--runner", "DirectRunner", "--job_name", "night"],
        ["--runner=DataflowRunner", "--project=p", "--region=europe-west1", "--max_num_workers=4"],
        ["--runner=FlinkRunner", "--parallelism=4", "--an_option_of_its_job_server", "x"],
    ],
)
def test_options_that_are_heeded_pass(args):
    check_beam_options(args)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--nonsense=1"], "^Beam knows no option --nonsense.$"),
        (["--direct_num_worker=2"], "no option --direct_num_worker; did you mean `--direct_num_workers`"),
        (["nonsense"], "`nonsense` is no option of Beam's: they begin with --"),
        (["--runner=FlinkRunner", "nonsense"], "`nonsense` is no option"),
        (["--runner=DataflowRunner", "--regoin=x"], "no option --regoin; did you mean `--region`"),
        (
            ["--direct_num_workers=many"],
            "Beam takes no such option: argument --direct_num_workers: invalid int",
        ),
    ],
)
def test_options_that_are_not_are_refused_with_the_near_one(args, words, capsys):
    with pytest.raises(ConfigError, match=words):
        check_beam_options(args)
    assert capsys.readouterr() == ("", "")


def test_the_runner_is_named_without_its_package():
    assert runner_of([]) == ""
    assert runner_of(["--runner=apache_beam.runners.direct.DirectRunner"]) == "DirectRunner"
