"""Under CI everything must run: a skip whose reason is not expected there is a failure.

The reasons that CI may have, each as its beginning. Keep this list short: what is skipped everywhere is not tested.
"""

import os
from collections.abc import Iterator

import pytest

EXPECTED: tuple[str, ...] = (
    "This machine has no IPv6 loopback",
    "This machine lets nobody mount a small disk",
    "This machine has no C compiler",
)


def verdict(outcome: str, reason: str, *, ci: bool) -> str | None:
    """The complaint about an outcome; None when there is none."""
    if not ci or outcome != "skipped" or reason.startswith(EXPECTED or ("\0",)):
        return None
    return f"Nothing may be skipped here, but this was: {reason}"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Pytest keeps file, line and reason of a skip."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def _judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    # An expected failure is also reported as skipped.
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    complaint = verdict(report.outcome, reason_of(report), ci=bool(os.environ.get("CI")))
    if complaint:
        report.outcome = "failed"
        report.longrepr = complaint


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    _judge(report)
    return report
