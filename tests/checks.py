"""`python -m tests.checks`: everything that can be said about the code without running its tests."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
CHECKS = {
    "format": ["-m", "ruff", "format", "--check", "--quiet", "."],
    "lint": ["-m", "ruff", "check", "--quiet", "."],
    "types": ["-m", "mypy"],
    "layers": ["-c", LAYERS],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "django": ["manage.py", "check", "--fail-level", "WARNING"],
    "schema": ["manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull],
    "docs": ["-m", "pytest", "-q", "-p", "no:randomly", "tests/docs"],
}


def main() -> int:
    failed = []
    with tempfile.TemporaryDirectory(prefix="consumerscope-check-") as home:
        environ = {**os.environ, "CONSUMERSCOPE_HOME": home}
        for name, arguments in CHECKS.items():
            start = time.monotonic()
            answer = subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            word = "ok" if answer.returncode == 0 else "FAILED"
            print(f"{name:<12}{word:<8}{time.monotonic() - start:5.1f} s", flush=True)
            if answer.returncode:
                failed.append(name)
                print(answer.stdout.rstrip(), flush=True)
    print(f"Failed: {', '.join(failed)}." if failed else "Everything is in order.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
