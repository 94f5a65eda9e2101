"""Days of a preview, in UTC."""

from datetime import UTC, datetime, timedelta

from consumers.alerts.preview.result import per_day
from consumers.alerts.preview.values import Grid

HOUR = timedelta(hours=1)
MIDNIGHT = datetime(2026, 3, 14, tzinfo=UTC)
DAY = (MIDNIGHT - datetime(1970, 1, 1, tzinfo=UTC)).days


def days(since, until, *, fired=(), first_seen=(None,), known=None, step_seconds=3600):
    found = per_day(Grid(since, until, step_seconds), fired, first_seen, known or {})
    return [(one["day"], one["fired"], one["fired_excluded"], one["unknown_share"]) for one in found]


def test_every_day_has_its_firings_and_what_is_not_known_of_it():
    since, until = MIDNIGHT - 20 * HOUR, MIDNIGHT + 10 * HOUR
    fired = [(MIDNIGHT - HOUR, False), (MIDNIGHT, True), (MIDNIGHT + HOUR, False)]
    # The moment at midnight is the first one of its day: 19 and 11 of them, of two subjects.
    said = days(since, until, fired=fired, first_seen=(None, None), known={DAY - 1: 19, DAY: 22})
    assert said == [("2026-03-13", 1, 0, 0.5), ("2026-03-14", 2, 1, 0)]


def test_a_subject_lacks_nothing_before_it_was_first_seen():
    since, until = MIDNIGHT - 24 * HOUR, MIDNIGHT + 12 * HOUR
    first = MIDNIGHT + 2 * HOUR
    found = per_day(Grid(since, until, 3600), [], [first], {DAY: 5})
    assert [one["unknown_share"] for one in found] == [None, 0.5]
    assert found[0]["unknown"] == {"unknown_share": "no subjects in the selection"}


def test_a_range_that_ends_at_midnight_has_that_moment():
    assert [day for day, *_ in days(MIDNIGHT - 2 * HOUR, MIDNIGHT)] == ["2026-03-13", "2026-03-14"]


def test_a_range_without_a_moment_has_no_days():
    assert days(MIDNIGHT, MIDNIGHT) == []
