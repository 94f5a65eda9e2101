"""The home: one folder for everything that Consumerscope keeps on this machine."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from .environment import declare, section, text

section("Home and secrets")

OTHERS = stat.S_IRWXG | stat.S_IRWXO

# The home has passwords' hashes, sessions and messages: whatever this process makes is for its user alone.
os.umask(OTHERS)


def make_private(home: Path) -> None:
    """Makes the home, for its user alone. One of another user is theirs to close; what all users share is no home."""
    home.mkdir(parents=True, exist_ok=True)
    found = home.stat()
    if found.st_uid == os.geteuid() and found.st_mode & OTHERS and not found.st_mode & stat.S_ISVTX:
        home.chmod(stat.S_IRWXU)


BASE_DIR = Path(__file__).resolve().parent.parent.parent
CONSUMERSCOPE_HOME = Path(
    text(
        "CONSUMERSCOPE_HOME",
        str(BASE_DIR / "var"),
        "The folder for everything kept on this machine: database, history store, logs, secret key. Only"
        " its user can read it: the folder has mode 0700, files are created with umask 077.",
        shown="`var/` in the project",
    )
).resolve()
make_private(CONSUMERSCOPE_HOME)


def _read_or_make_secret(path: Path) -> str:
    """The secret of this home; the first of several processes that start at once makes it, the others read it."""
    if not path.exists():
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.touch(mode=0o600)
        aside.write_text(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()
    return path.read_text().strip()


SECRET_KEY = text(
    "CONSUMERSCOPE_SECRET_KEY",
    "",
    "Signs sessions and encrypts stored secrets. The same for all processes.",
    shown="created once in the home",
) or _read_or_make_secret(CONSUMERSCOPE_HOME / "secret_key")
# The demo and the tests read it themselves.
declare("CONSUMERSCOPE_JARS", "`jars` in the home", "RocketMQ's jars for the demo and the tests.")
