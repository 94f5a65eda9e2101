"""A short form of `python -m tests.fuzz rest`."""

from pathlib import Path
from typing import Any

import pytest

from consumers.lake.store import Lake
from tests.fuzz.rest import SETTINGS, Calls, FuzzedSite, fuzz
from tests.walk.world import a_known_world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
CALLS = 400


@pytest.fixture
def site(settings: Any, tmp_path: Path) -> Any:
    for name, value in SETTINGS.items():
        setattr(settings, name, value)
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    a_known_world(Lake.at(str(tmp_path)))
    return FuzzedSite()


def test_no_damaged_call_is_an_error_of_the_site_or_takes_long(site: FuzzedSite) -> None:
    found = fuzz(site, Calls(7), range(CALLS))
    assert found.complaints == [], "\n\n".join(found.complaints)
    assert {200, 400, 401, 403, 404} <= found.statuses.keys()


def test_a_call_is_the_same_whenever_its_number_is_asked_for() -> None:
    assert [Calls(7).call(number) for number in (3, 9)] == [Calls(7).call(number) for number in (3, 9)]


def test_an_error_of_the_site_is_found_and_told_with_its_traceback(site: FuzzedSite, monkeypatch: Any) -> None:
    """Else the others here say nothing."""

    def fails(*_asked: Any, **_named: Any) -> None:
        raise ZeroDivisionError("made for this")

    monkeypatch.setattr("consumers.groups.rest.group_history", fails)
    numbers = [number for number in range(3_000) if Calls(7).call(number).path.endswith("/prod/billing/history/")]
    found = fuzz(site, Calls(7), numbers)
    assert 500 in found.statuses
    assert "ZeroDivisionError: made for this" in found.complaints[0]


def test_a_call_that_takes_long_is_found(site: FuzzedSite) -> None:
    assert len(fuzz(site, Calls(7), range(3), most_seconds=0.0).complaints) == 3
