"""Times as the reader's clock says them, each beside its zone."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from consumers.words.times import example_time, read_time
from dashboard.wording.numbers import clock
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[4] / "templates"
TEMPLATES = sorted(ROOT.rglob("*.html"))
GROUP, LAG = "/groups/prod/billing/", "/figures/prod/billing/lag/?range=1h"


@pytest.fixture(autouse=True)
def billing() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_judged_group(group)
    a_snapshot(group, a_queue(cluster), 60, 100)


@pytest.fixture
def in_shanghai(operator: Client) -> Client:
    operator.cookies["utc_offset"] = "480"
    return operator


def test_a_page_writes_times_by_the_clock_of_the_browser_and_names_its_zone(in_shanghai: Client) -> None:
    page = in_shanghai.get(GROUP).text
    assert "times in UTC+08:00" in page
    assert re.search(r'title="2026-03-14 02:(..:..) UTC">10:\1</time>', page)


def test_who_chose_utc_has_it(in_shanghai: Client) -> None:
    in_shanghai.post("/times/", {"times": "utc", "next": GROUP})
    assert "times in UTC ·" in in_shanghai.get(GROUP).text


@pytest.mark.parametrize("offset", ["", "eight", "9999", "841", "-900", "480; x"])
def test_an_offset_that_no_clock_has_is_as_if_there_were_none(operator: Client, offset: str) -> None:
    operator.cookies["utc_offset"] = offset
    assert "times in UTC ·" in operator.get(GROUP).text


def test_the_axis_of_a_chart_is_of_the_same_clock_and_says_how_far_it_is_from_utc(in_shanghai: Client) -> None:
    layout = in_shanghai.get(LAG).json()["layout"]
    assert layout["xaxis"]["range"][1].startswith("2026-03-14 11:00")
    assert layout["meta"] == {"utcOffset": 480}


def test_what_machines_read_is_of_utc(in_shanghai: Client) -> None:
    assert "+08:00" not in in_shanghai.get("/api/v1/groups/prod/billing/").text


def test_the_next_reader_has_a_clock_of_his_own(in_shanghai: Client, admin_client: Client) -> None:
    in_shanghai.get(GROUP)
    assert "times in UTC ·" in admin_client.get(GROUP).text


def test_the_example_of_a_time_that_is_entered_names_the_zone_and_is_read_as_that(in_shanghai: Client) -> None:
    page = in_shanghai.get("/groups/prod/billing/resets/plan/").text
    assert "for example 2026-03-14 14:00+08:00 (UTC, unless it names a zone)" in page
    assert read_time("2026-03-14 14:00+08:00") == read_time(example_time()) == datetime(2026, 3, 14, 6, tzinfo=UTC)


def test_a_choice_that_does_not_exist_is_refused(client: Client) -> None:
    assert client.post("/times/", {"times": "mars"}).status_code == 400


def test_the_date_is_added_where_it_is_another_day_by_the_reader_s_clock(in_shanghai: Client) -> None:

    evening, night = datetime(2026, 3, 14, 15, 30, tzinfo=UTC), datetime(2026, 3, 14, 16, 30, tzinfo=UTC)
    with timezone.override(timezone.get_fixed_timezone(timedelta(hours=8))):
        assert clock(evening, night) == "14 Mar 23:30:00"


# What is entered without a zone is UTC, whole days are those of UTC, and a weekly silence has a zone of its own.
OF_UTC = ("UTC, unless it names a zone", "full days (UTC)", 'default:"UTC"')


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_names_the_reader_s_zone_and_not_utc(template: Path) -> None:
    text = template.read_text()
    for one in OF_UTC:
        text = text.replace(one, "")
    assert "UTC" not in text
