"""pyarrow is kept from pandas; whoever wants it, as Spark does, still finds it."""

import subprocess
import sys


def said_by(code: str) -> str:
    """By an interpreter of its own, in which nothing was imported before."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_whoever_reads_the_history_does_not_load_pandas() -> None:
    arrays = "import pyarrow as pa; import pyarrow.dataset; pa.array([1.5]); pa.Table.from_pylist([{'a': 1}])"
    assert said_by(f"import sys; import consumers.lake.reader; {arrays}; print('pandas' in sys.modules)") == "False"


def test_pandas_can_be_imported_afterwards() -> None:
    assert said_by("import consumers.lake.reader; import pandas; print(pandas.DataFrame({'a': [1, 2]}).a.sum())") == "3"
