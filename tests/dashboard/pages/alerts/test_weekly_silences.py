"""The form of silences that repeat each week, and what a silence covers, shown before it is stored."""

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, Silence
from tests.alert_rows import a_note, a_rule, an_incident
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
SUNDAYS = {"days": ["sun"], "start": "04:00", "end": "06:00", "time_zone": "Europe/Berlin"}
PAGE = "/alerts/silences/"
SENT = {"group_pattern": "bill*", "reason": "backups", "length": "weekly", "days": ["sun"], "start": "04:00",
        "end": "06:00", "time_zone": "Europe/Berlin"}  # fmt: skip


@pytest.fixture
def world() -> ConsumerGroup:
    cluster = a_cluster()
    a_group(cluster, "audit")
    group = a_group(cluster, "billing")
    an_incident(a_rule(), group)
    return group


def test_the_page_shows_what_a_silence_covers_and_stores_nothing(operator: Client, world: ConsumerGroup) -> None:
    text = operator.post(PAGE, SENT | {"preview": "1"}).text
    assert "Covers 1 group · 1 open incident" in " ".join(text.split())
    assert "Far behind: billing" in text
    assert 'datetime="2026-03-15T03:00:00+00:00"' in text
    assert not Silence.objects.exists()


def test_labels_of_notes_are_counted(operator: Client, world: ConsumerGroup) -> None:
    a_note("audit", labels={"team": "compliance"})
    sent = {"labels": "team=compliance", "reason": "x", "length": "1h", "preview": "1"}
    assert "Covers 1 group · 0 open incidents" in " ".join(operator.post(PAGE, sent).text.split())


def test_the_page_makes_one_for_a_year_where_no_end_is_given(operator: Client) -> None:
    assert operator.post(PAGE, SENT).status_code == 302
    silence = Silence.objects.get()
    assert (silence.weekly, silence.ends_at) == (SUNDAYS, ago(-365 * 86400))
    assert "Sun 04:00–06:00 Europe/Berlin" in operator.get(PAGE).text


def test_the_page_says_what_is_wrong_beside_the_window(operator: Client) -> None:
    answer = operator.post(PAGE, SENT | {"days": []})
    assert answer.status_code == 400
    assert "Choose at least one day of the week." in answer.text
    assert 'value="04:00"' in answer.text


def test_a_reader_sees_no_preview(viewer: Client) -> None:
    assert viewer.post(PAGE, SENT | {"preview": "1"}).status_code == 403
