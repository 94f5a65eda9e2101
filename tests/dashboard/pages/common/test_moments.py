from datetime import UTC, datetime

import pytest
from django.test import RequestFactory

from dashboard.pages.common.moments import moment_of
from dashboard.pages.site.problems import UnknownFilter
from tests.world import NOW


def asked(**query: str) -> datetime | None:
    return moment_of(RequestFactory().get("/", query), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-14T02:14:24Z",
        "2026-03-14T02:14:24",
        "2026-03-14 02:14:24",
        "2026-03-14T03:14:24+01:00",
        "2026-03-14T03:14:24 01:00",
    ],
)
def test_a_past_moment_is_read_in_any_of_its_forms(text: str) -> None:
    assert asked(at=text) == datetime(2026, 3, 14, 2, 14, 24, tzinfo=UTC)


def test_without_one_the_newest_is_meant() -> None:
    assert asked() is None
    assert asked(at="") is None


# What is counted from them, or what they are in UTC, is no time.
OUTSIDE = ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


@pytest.mark.parametrize("text", ["yesterday", "2026-02-30T00:00:00Z", "2026-03-14T03:00:01Z", *OUTSIDE])
def test_what_is_no_past_moment_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UnknownFilter, match="2026-03-14T02:14:24Z"):
        asked(at=text)
