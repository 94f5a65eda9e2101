"""The home: one folder for everything that Consumerscope keeps on this machine."""

import contextlib
import os
import secrets
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent.parent
CONSUMERSCOPE_HOME = Path(os.environ.get("CONSUMERSCOPE_HOME") or BASE_DIR / "var").resolve()
CONSUMERSCOPE_HOME.mkdir(parents=True, exist_ok=True)


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


SECRET_KEY = os.environ.get("CONSUMERSCOPE_SECRET_KEY") or _read_or_make_secret(CONSUMERSCOPE_HOME / "secret_key")
