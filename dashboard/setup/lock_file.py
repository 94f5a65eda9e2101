"""requirements.lock: pinned packages, each with the digests of its files."""

import hashlib
import re
from itertools import pairwise
from pathlib import Path

# What builds the packages that are published as source only, and what those builders need themselves.
BUILDERS = ("packaging", "setuptools", "wheel")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def count(text: str) -> int:
    """How many packages are pinned; one that is pinned per Python version counts once."""
    return len(set(_PIN.findall(text)))


def builders(text: str) -> str:
    """The lines that pin the builders, as a requirements file of its own; empty when none is pinned."""
    starts = [*(match.start() for match in _PIN.finditer(text)), len(text)]
    blocks = [text[start:end] for start, end in pairwise(starts)]
    return "".join(block for block in blocks if block.split("==", 1)[0] in BUILDERS)
