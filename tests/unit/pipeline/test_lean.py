"""In a process of its own: what is loaded once cannot be unloaded."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def said(program):
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()


def test_lists_become_arrays_without_pandas():
    assert said(
        "import sys, pyarrow as pa\n"
        "from pipeline.lean import look_for_no_pandas\n"
        "look_for_no_pandas()\n"
        "print(pa.array([1, None]).null_count, 'pandas' in sys.modules)\n"
    ) == ["1", "False"]


def test_pandas_can_be_had_later_and_arrow_works_with_it():
    assert said(
        "import pyarrow as pa\n"
        "from pipeline.lean import look_for_no_pandas\n"
        "look_for_no_pandas()\n"
        "import pandas as pd\n"
        "table = pa.Table.from_pandas(pd.DataFrame({'a': [1.5, None]}))\n"
        "print(table['a'].null_count, table.to_pandas()['a'].isna().sum())\n"
        "print(pa.array(pd.Series([None, 2.0])).null_count)\n"
    ) == ["1", "1", "1"]


def test_pandas_that_is_there_already_stays_known_to_arrow():
    assert said(
        "import pandas as pd, pyarrow as pa\n"
        "from pipeline.lean import look_for_no_pandas\n"
        "look_for_no_pandas()\n"
        "print(pa.array(pd.Series([None, 2.0])).null_count)\n"
    ) == ["1"]


def test_a_process_keeps_its_memory_where_it_can_and_works_as_before():
    assert said(
        "import platform, pyarrow as pa\n"
        "from pipeline.lean import keep_memory\n"
        "keep_memory()\n"
        "print(pa.default_memory_pool().backend_name == 'system' or platform.libc_ver()[0] != 'glibc')\n"
        "print(pa.array(range(10**6)).nbytes)\n"
    ) == ["True", "8000000"]
