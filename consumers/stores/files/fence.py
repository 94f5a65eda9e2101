"""Where offset files may be opened: under folders that the site names, so that a setting of a cluster reaches no other.

A link counts as what it leads to. Where that is is never told: whoever reads the sentence may be no administrator.
"""

import os
import re
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path, PurePath

from .kinds import NAMES, is_named_so
from .problems import NotAllowed

# A character that a glob takes as it stands: glob.escape writes it so.
_ESCAPED = re.compile(r"\[([*?[])\]")


def real_path(path: Path, folders: Sequence[str]) -> Path:
    """Where a file really is. Raises NotAllowed where it may not be opened, whether it is there or not."""
    real = Path(os.path.realpath(path))
    if not is_inside(real, folders):
        raise NotAllowed(f"{outside(folders)}, or is a link that leads out of them.")
    if not is_named_so(path) or not is_named_so(real):
        raise NotAllowed(f"is not named {NAMES}, or is a link to a file that is not: it is not opened.")
    return real


def is_inside(real: Path, folders: Sequence[str]) -> bool:
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def outside(folders: Sequence[str]) -> str:
    return f"lies outside of the folders that offset files are read from (POLL_OFFSET_FOLDERS: {':'.join(folders)})"


def begins_inside(pattern: str, folders: Sequence[str]) -> bool:
    """Whether the folders before the first `*` of a glob are inside: no other folder is looked through."""
    fixed: list[str] = []
    for part in PurePath(pattern).parts:
        if has_magic(_ESCAPED.sub("", part)):
            break
        fixed.append(_ESCAPED.sub(r"\1", part))
    return is_inside(Path(os.path.realpath(PurePath(*fixed))), folders)
