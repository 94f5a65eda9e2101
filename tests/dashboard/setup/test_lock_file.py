from pathlib import Path

from dashboard.setup.lock_file import builders, count, digest

LOCK = """amqp==5.4.2 \\
    --hash=sha256:aa
    # via kombu
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:bb
numpy==2.5.5 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
setuptools==84.2.1 \\
    --hash=sha256:dd \\
    --hash=sha256:ee
    # via consumerscope (pyproject.toml)
wheel==0.48.0 \\
    --hash=sha256:ff
"""


def test_it_counts_a_package_once_that_is_pinned_for_each_python() -> None:
    assert count(LOCK) == 4


def test_it_takes_the_builders_with_their_digests() -> None:
    assert builders(LOCK) == LOCK[LOCK.index("setuptools") :]


def test_it_finds_no_builders_where_none_is_pinned() -> None:
    assert builders("amqp==5.4.2 \\\n    --hash=sha256:aa\n") == ""


def test_it_knows_a_lock_by_every_byte(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    digests = set()
    for text in (LOCK, LOCK + "\n", LOCK):
        lock.write_text(text)
        digests.add(digest(lock))
    assert len(digests) == 2
