"""Free space under the lake. Below the floor no more history is written: a full disk would stop everything else too."""

import shutil
from pathlib import Path

import pyarrow.fs as pafs

from .store import Lake

MIB = 1024 * 1024


def free_mib(lake: Lake) -> float | None:
    """Null where the file system does not tell, as object stores do not."""
    if not isinstance(lake.filesystem, pafs.LocalFileSystem):
        return None
    folder = Path(lake.root).resolve()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free / MIB


def below_floor(lake: Lake, floor_mib: float) -> bool:
    free = free_mib(lake)
    return free is not None and free < floor_mib
