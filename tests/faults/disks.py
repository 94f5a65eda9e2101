"""Small disks for a home and its lake, which a fault can fill."""

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Small ones, so that filling them takes a moment.
HOME_MEGABYTES, LAKE_MEGABYTES, FLOOR_MEGABYTES = 512, 64, 16


@contextmanager
def small_disks(home: Path) -> Iterator[bool]:
    """A disk for the home, and one for the lake in it. False where nobody may mount any: then no disk is ever full."""
    lake = home / "lake"
    with contextlib.ExitStack() as mounted:
        for folder, megabytes in ((home, HOME_MEGABYTES), (lake, LAKE_MEGABYTES)):
            folder.mkdir(parents=True, exist_ok=True)
            command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)]
            try:
                done = subprocess.run(command, capture_output=True, check=False).returncode == 0
            except OSError:
                done = False
            if not done:
                yield False
                return
            # Lazily: a process that is slow to end may hold a file of it.
            mounted.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
        yield True
