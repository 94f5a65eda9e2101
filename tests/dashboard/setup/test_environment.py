"""A real environment, filled by the real pip from one tiny wheel; no network is asked."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.setup.environment import Environment, Need
from dashboard.setup.trouble import SetupFailed


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
        self.said: list[str] = []
        self.digest = make_wheel(root / "wheels")
        self.lock = root / "requirements.lock"
        self.folder = root / ".venv"
        self.pin(self.digest)

    def pin(self, digest: str) -> None:
        self.lock.write_text(f"tiny==1.0 \\\n    --hash=sha256:{digest}\n")

    def ensure(self) -> list[str]:
        self.said.clear()
        Environment(self.folder, self.lock).ensure(self.said.append)
        return self.said

    def answer(self) -> str:
        command = [self.folder / "bin" / "python", "-c", "import tiny; print(tiny.ANSWER)"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def _checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def checkout(_checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """One for all tests, as making an environment takes seconds; whole when a test begins."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(_checkout.lock.parent / "wheels"))
    _checkout.pin(_checkout.digest)
    _checkout.ensure()
    return _checkout


def test_it_installs_what_is_locked(checkout: Checkout) -> None:
    assert checkout.answer() == "42"


def test_it_does_nothing_the_second_time(checkout: Checkout) -> None:
    assert checkout.ensure() == []


def test_it_installs_again_when_the_lock_has_changed(checkout: Checkout) -> None:
    checkout.lock.write_text(checkout.lock.read_text() + "# via something\n")
    assert checkout.ensure()[-1] == "All packages are installed"


@pytest.mark.parametrize(
    ("lock", "complaint"),
    [
        ("tiny==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n", "DO NOT MATCH THE HASHES"),
        ("tiny==1.0\n", "Hashes are required"),
    ],
)
def test_it_refuses_a_package_that_is_not_the_one_that_was_locked(
    checkout: Checkout, lock: str, complaint: str
) -> None:
    """And is marked as unfinished from then on."""
    uninstall = [checkout.folder / "bin" / "python", "-m", "pip", "-q", "uninstall", "-y", "tiny"]
    subprocess.run(uninstall, capture_output=True, check=True)
    checkout.lock.write_text(lock)
    with pytest.raises(SetupFailed, match=complaint):
        checkout.ensure()
    assert Environment(checkout.folder, checkout.lock).need("any") is Need.MAKE
    (checkout.folder / "unfinished").unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What is looked at of an environment, without making one."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "installed-lock").write_text("digest\n")
    return tmp_path


@pytest.mark.parametrize(
    ("what_happened", "need"),
    [
        (lambda folder: None, Need.NOTHING),
        (lambda folder: (folder / "installed-lock").write_text("another\n"), Need.FILL),
        (lambda folder: (folder / "installed-lock").unlink(), Need.FILL),
        (lambda folder: (folder / "unfinished").touch(), Need.MAKE),
        (lambda folder: (folder / "bin" / "python").unlink(), Need.MAKE),
    ],
    ids=["nothing", "another lock", "filled by hand", "interrupted", "its Python is gone"],
)
def test_it_knows_what_an_environment_needs(folder: Path, what_happened: Callable[[Path], object], need: Need) -> None:
    what_happened(folder)
    assert Environment(folder, folder / "requirements.lock").need("digest") is need
