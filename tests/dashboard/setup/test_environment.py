"""A real environment, filled by the real pip from one tiny wheel; no network is asked."""

import base64
import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.setup import BUILDERS, UNFINISHED, SetupFailed, ensure_environment


def make_wheel(folder: Path) -> str:
    """A package `tiny` in `folder`; the digest of its file."""
    folder.mkdir()
    info = "tiny-1.0.dist-info"
    files = {
        "tiny.py": "ANSWER = 42\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}"
        for name, text in files.items()
    ]
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": "\n".join([*record, f"{info}/RECORD,,", ""])}.items():
            archive.writestr(name, text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


class Checkout:
    def __init__(self, root: Path) -> None:
        self.digest = make_wheel(root / "wheels")
        self.lock = root / "requirements.lock"
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.stamp = self.folder / "installed-lock"
        self.pin(self.digest)

    def pin(self, digest: str) -> None:
        self.lock.write_text(f"tiny==1.0 \\\n    --hash=sha256:{digest}\n")

    def ensure(self) -> None:
        ensure_environment(self.folder, self.lock)

    def uninstall(self) -> None:
        subprocess.run([self.python, "-m", "pip", "-q", "uninstall", "-y", "tiny"], capture_output=True, check=True)

    def answer(self) -> str:
        command = [self.python, "-c", "import tiny; print(tiny.ANSWER)"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def _checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def checkout(_checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Checkout:
    """One for all tests, as making an environment takes seconds; whole when a test begins."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(_checkout.lock.parent / "wheels"))
    _checkout.pin(_checkout.digest)
    # Filled anew is enough after a refusal: to make it anew takes far longer.
    if _checkout.stamp.is_file() and _checkout.stamp.read_text() == UNFINISHED:
        _checkout.stamp.unlink()
    _checkout.ensure()
    capfd.readouterr()
    return _checkout


def test_it_installs_what_is_locked(checkout: Checkout) -> None:
    assert checkout.answer() == "42"


def test_it_does_nothing_the_second_time(checkout: Checkout, capfd: pytest.CaptureFixture[str]) -> None:
    checkout.ensure()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("what_happened", "is_made_anew"),
    [
        (lambda checkout: checkout.lock.write_text(checkout.lock.read_text() + "# via something\n"), False),
        (lambda checkout: checkout.stamp.unlink(), False),
        (lambda checkout: checkout.stamp.write_text("unfinished"), True),
        (lambda checkout: checkout.python.unlink(), True),
    ],
    ids=["another lock", "filled by hand", "interrupted", "its Python is gone"],
)
def test_it_installs_again_and_makes_the_environment_anew_only_where_it_must(
    checkout: Checkout,
    what_happened: Callable[[Checkout], object],
    is_made_anew: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    what_happened(checkout)
    checkout.ensure()
    said = capfd.readouterr().out.splitlines()
    assert ("Making a Python environment in .venv" in said, said[-1]) == (is_made_anew, "All packages are installed")
    assert checkout.answer() == "42"


@pytest.mark.parametrize(
    ("lock", "complaint"),
    [
        ("tiny==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n", "DO NOT MATCH THE HASHES"),
        ("tiny==1.0\n", "Hashes are required"),
        ("absent==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n", "No matching distribution"),
    ],
)
def test_it_refuses_a_package_that_is_not_the_one_that_was_locked(
    checkout: Checkout, lock: str, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """And is marked as unfinished from then on."""
    checkout.uninstall()
    checkout.lock.write_text(lock)
    with pytest.raises(SetupFailed, match="connect this machine to the network once"):
        checkout.ensure()
    assert complaint in capfd.readouterr().err
    assert checkout.stamp.read_text() == "unfinished"


def test_it_installs_what_builds_packages_with_its_digests_before_all_others() -> None:
    lock = "".join(
        [
            "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:bb\n",
            builders
            := "setuptools==84.2.1 \\\n    --hash=sha256:dd \\\n    --hash=sha256:ee\n    # via consumerscope\n",
            "tiny==1.0 \\\n    --hash=sha256:ff\n",
            "wheel==0.48.0 \\\n    --hash=sha256:ff\n",
        ]
    )
    assert BUILDERS.findall(lock) == [builders, "wheel==0.48.0 \\\n    --hash=sha256:ff\n"]
