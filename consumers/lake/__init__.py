"""The history as Parquet, read and written with pyarrow.

pyarrow looks for pandas once, for its first array, and where it is installed loads it: 35 MB of each process. Nothing
here hands pandas to pyarrow. Spark wants it installed, and finds it afterwards.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa


class _PandasHidden(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is hidden from pyarrow", name=fullname)


def _without_pandas() -> None:
    hidden = _PandasHidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


# Before pyarrow.dataset, which makes arrays as it is imported.
_without_pandas()
