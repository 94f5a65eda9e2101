"""Run as `python dying.py LAKE STEP`: compacts a lake and is killed, by SIGKILL, right before its STEPth change.

A change is what alters the file system: a file opened for writing, a rename, a deletion.
"""

import os
import signal
import sys
from datetime import UTC, datetime, timedelta

import pyarrow.fs as pafs

from consumers.lake.retention import compact
from consumers.lake.store import Lake


class Dying(pafs.LocalFileSystem):
    left = 0

    def change(self):
        Dying.left -= 1
        if Dying.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def open_output_stream(self, *args, **kwargs):
        self.change()
        return super().open_output_stream(*args, **kwargs)

    def move(self, *args):
        self.change()
        return super().move(*args)

    def delete_file(self, *args):
        self.change()
        return super().delete_file(*args)


if __name__ == "__main__":
    Dying.left = int(sys.argv[2])
    lake = Lake(Dying(), sys.argv[1], f"file://{sys.argv[1]}")
    compact(lake, datetime(2026, 3, 1, 12, tzinfo=UTC), timedelta(minutes=10))
    print("alive")
