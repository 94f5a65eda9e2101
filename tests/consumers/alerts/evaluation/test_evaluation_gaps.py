"""Times when nobody evaluated rules are kept, and lists of incidents say that there may have been more."""

from datetime import datetime, timedelta

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.queries.incidents import IncidentFilters, why_incomplete
from consumers.alerts.tasks import forget
from consumers.models import AlertEngine, EvaluationGap, IncidentStatus
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


def evaluate_at(*seconds_ago: float) -> None:
    for seconds in seconds_ago:
        evaluate(ago(seconds), lambda: NOW)


def gaps() -> list[tuple[datetime | None, datetime]]:
    return list(EvaluationGap.objects.order_by("ended_at").values_list("began_at", "ended_at"))


def said(since: float, until: float = 0, status: IncidentStatus = IncidentStatus.RESOLVED) -> str | None:
    return why_incomplete(IncidentFilters(statuses=(status,), since=ago(since), until=ago(until)), NOW)


def test_before_the_first_evaluation_nothing_was_seen() -> None:
    evaluate_at(60, 45)
    assert gaps() == [(None, ago(60))]
    assert said(3600) == "the first known evaluation of alert rules was at 2026-03-14 02:59:00 UTC"
    assert said(59) is None


def test_evaluations_that_follow_each_other_leave_no_gap() -> None:
    evaluate_at(60, 45, 30, 15, 0)
    assert len(gaps()) == 1


def test_a_time_between_two_evaluations_that_is_too_long_is_kept() -> None:
    evaluate_at(3600, 600, 585)
    assert gaps()[1:] == [(ago(3600), ago(600))]
    assert said(3000) == "alert rules were not evaluated from 2026-03-14 02:00:00 UTC to 2026-03-14 02:50:00 UTC"
    assert said(590) is None


def test_of_several_the_last_is_named() -> None:
    evaluate_at(7200, 3600, 600)
    assert said(7000) == (
        "alert rules were not evaluated from 2026-03-14 02:00:00 UTC to 2026-03-14 02:50:00 UTC, and once before"
    )


def test_a_range_that_ends_before_it_says_nothing_of_it() -> None:
    evaluate_at(3600, 600)
    assert said(3590, 3580) is not None
    EvaluationGap.objects.filter(began_at=None).delete()
    assert said(4000, 3600) is None


def test_what_fires_now_depends_on_no_gap() -> None:
    evaluate_at(3600, 600)
    assert said(3000, status=IncidentStatus.FIRING) is None


def test_a_failed_evaluation_leaves_no_gap_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_at(60)
    monkeypatch.setattr("consumers.alerts.evaluation.run.go_round", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        evaluate_at(0)
    assert AlertEngine.objects.get().evaluated_at == ago(60)
    assert len(gaps()) == 1


def test_they_are_forgotten_with_the_incidents() -> None:
    EvaluationGap.objects.create(began_at=None, ended_at=NOW - timedelta(days=91))
    EvaluationGap.objects.create(began_at=NOW - timedelta(days=91), ended_at=NOW - timedelta(days=89))
    forget(NOW)
    assert [ended for _, ended in gaps()] == [NOW - timedelta(days=89)]
