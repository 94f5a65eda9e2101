"""The health of a group out of its state and what was found: the table of docs/evaluation.md."""

from datetime import timedelta

import pytest

from consumers.groups.health import OF_STATE, WRITERS, Findings, HealthCode, HealthLimits, Reason, health, shown
from consumers.models import HealthLevel, State
from tests.world import NOW, ago

LIMITS = HealthLimits(noted=timedelta(seconds=60), checked=timedelta(seconds=900))
DEAD = Reason(HealthCode.DLQ_INFLOW, HealthLevel.WARNING, {"day_messages": 300, "is_whole_day": True, "per_minute": 5})
TWICE = Reason(HealthCode.OWNERSHIP, HealthLevel.CRITICAL, {"finding": "doubly_owned", "queues": 2})
PAUSED = Reason(HealthCode.RETRY_CHECK, HealthLevel.OK, {"finding": "consumption_disabled"})
NO_DLQ = Reason(HealthCode.DLQ_UNKNOWN, HealthLevel.UNKNOWN)


def found(*reasons: Reason, noted: float | None = 10, checked: float | None = 300) -> Findings:
    """`noted` and `checked`: how many seconds ago."""
    ages = (None if seconds is None else ago(seconds) for seconds in (noted, checked))
    return Findings(reasons, (), *ages)


@pytest.mark.parametrize(
    ("state", "level"),
    [
        ("LOSS", "critical"),
        ("STOP", "critical"),
        ("STALL", "critical"),
        ("REWIND", "warning"),
        ("WARN", "warning"),
        ("UNKNOWN", "unknown"),
        ("RECREATED", "unknown"),
        ("OK", "ok"),
    ],
)
def test_a_state_alone_gives_its_level(state: str, level: str) -> None:
    verdict = health(State(state), "a rule", found(), NOW, LIMITS)
    assert verdict.level == level
    assert [reason.code for reason in verdict.reasons] == ([] if level == "ok" else ["state"])


def test_every_state_has_a_level() -> None:
    assert set(OF_STATE) == set(State)


@pytest.mark.parametrize(
    ("state", "reasons", "level", "codes"),
    [
        ("OK", [DEAD], "warning", ["dlq_inflow"]),
        ("OK", [TWICE, DEAD], "critical", ["ownership", "dlq_inflow"]),
        ("WARN", [TWICE], "critical", ["ownership", "state"]),
        ("STOP", [DEAD], "critical", ["state", "dlq_inflow"]),
        ("UNKNOWN", [DEAD], "warning", ["dlq_inflow", "state"]),
        ("OK", [NO_DLQ], "unknown", ["dlq_unknown"]),
        ("OK", [NO_DLQ, DEAD], "warning", ["dlq_inflow", "dlq_unknown"]),
        ("OK", [PAUSED], "ok", ["retry_check"]),
    ],
)
def test_the_worst_of_all_decides_and_stands_first(
    state: str, reasons: list[Reason], level: str, codes: list[str]
) -> None:
    verdict = health(State(state), "a rule", found(*reasons), NOW, LIMITS)
    assert (verdict.level, [reason.code for reason in verdict.reasons]) == (level, codes)


@pytest.mark.parametrize(("noted", "checked"), [(None, None), (61, 300), (10, 901), (10, None)])
def test_what_nobody_looked_at_of_late_is_never_ok(noted: float | None, checked: float | None) -> None:
    verdict = health(State.OK, "a rule", found(noted=noted, checked=checked), NOW, LIMITS)
    assert (verdict.level, [reason.code for reason in verdict.reasons]) == ("unknown", ["checks_late"])


def test_an_old_finding_is_still_said() -> None:
    verdict = health(State.OK, "a rule", found(DEAD, noted=500), NOW, LIMITS)
    assert (verdict.level, [reason.code for reason in verdict.reasons]) == ("warning", ["dlq_inflow", "checks_late"])


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (DEAD, "DLQ inflow 5/min · 300 dead-lettered in 24 h"),
        (TWICE, "Queues with two owners (2 queues)"),
        (PAUSED, "Consumption disabled by configuration"),
        (Reason(HealthCode.DLQ_INFLOW, HealthLevel.WARNING, {"day_messages": 44}), "≥ 44 dead-lettered in 24 h"),
        (
            Reason(
                HealthCode.REBALANCES,
                HealthLevel.WARNING,
                {"level": "unsettled", "rebalances_hour": 14, "episodes_hour": 1},
            ),
            "Unstable: 14 rebalances in 1 episode, 1 h",
        ),
        (
            Reason(
                HealthCode.RETRY_CHECK, HealthLevel.CRITICAL, {"finding": "retries_discarded", "brokers": ["broker-b"]}
            ),
            "Failed messages are discarded (broker-b)",
        ),
        (Reason(HealthCode.CHECKS_LATE, HealthLevel.UNKNOWN), "Ownership, retries and DLQ inflow not checked yet"),
        (Reason(HealthCode.EVALUATION_LATE, HealthLevel.UNKNOWN), "DLQ inflow and rebalances not evaluated yet"),
        (
            Reason(HealthCode.EVALUATION_LATE, HealthLevel.UNKNOWN, {"since": "2026-03-14T02:00:00+00:00"}),
            "DLQ inflow and rebalances not evaluated since 2026-03-14 02:00:00 UTC",
        ),
    ],
)
def test_a_reason_has_a_short_text(reason: Reason, text: str) -> None:
    assert shown(reason).text == text


def test_every_code_has_words_and_survives_its_way_through_json() -> None:
    assert set(WRITERS) == set(HealthCode)
    assert Reason.of_json(DEAD.as_json()) == DEAD
