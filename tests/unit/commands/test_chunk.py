"""What ``parquetry chunk`` says of a call that is wrong."""

import pytest

from pipeline.commands import chunk
from transforms.model.errors import ConfigError


def test_a_strategy_that_is_misspelt_is_told_with_those_there_are_and_the_near_one(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    with pytest.raises(
        ConfigError, match=r'^--strategy: must be one of `verbatim`, .*got "sectons".*mean `sections`\?$'
    ):
        chunk.run(str(tmp_path / "a.md"), strategy="sectons", config=None, source=None, as_json=False)
