"""What was collected is left to itself, and what a test leaves is still collected."""

import gc
import weakref

import pytest

from tests.tiers import ROOT

FILE = """
import gc

ENABLED = gc.isenabled()

def test_the_collector_works_again():
    assert not ENABLED
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1000

def test_it_does_not_begin_after_each_few_hundred_objects():
    assert gc.get_threshold()[0] >= 10_000
"""


def test_it_waits_while_tests_are_collected_and_works_while_they_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(test_a=FILE)
    run = ["-p", "tests.plugins.garbage", "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider", "-q"]
    pytester.runpytest_subprocess(*run).assert_outcomes(passed=2)


def test_a_circle_that_a_test_leaves_is_collected() -> None:
    class Circle:
        pass

    one = Circle()
    one.itself = one  # type: ignore[attr-defined]
    left = weakref.ref(one)
    del one
    gc.collect()
    assert left() is None
