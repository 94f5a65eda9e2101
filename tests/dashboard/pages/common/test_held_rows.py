"""Two people change the same thing at once: the second is told so, with what they typed still there."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.models import AlertRule, Channel, GroupNote, Incident
from tests.alert_pages import shown
from tests.alert_rows import a_rule, an_incident
from tests.reset_rows import logged_in
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
RULE = {"name": "Far behind", "measure": "time_lag_seconds", "threshold": "20 min", "severity": "critical"}
RULE |= {"for_seconds": "5 min", "clear_seconds": "5 min"}
NOTE = {"group_pattern": "bill*", "owner": "payments", "position": "3"}
CHANNEL = {"kind": "email", "name": "on call", "recipients": "ann@example.org", "group_pattern": "bill*"}
# Of each kind what is kept, what is typed, and a field that each of the two types their own way.
KINDS: dict[str, tuple[Any, dict[str, str], str]] = {
    "rules": (AlertRule, RULE, "topic"),
    "notes": (GroupNote, NOTE, "owner"),
    "channels": (Channel, CHANNEL, "cluster"),
}
SENTENCE = (
    "Could not save: changed by admin at 2026-03-14 03:00:20 UTC. "
    "Check the new version, then save again to overwrite it."
)


def version_in(page: str) -> str:
    return unescape(page.split('name="version" value="')[1].split('"')[0])


def made(operator: Client, kind: str) -> Any:
    model, typed, _field = KINDS[kind]
    assert operator.post(f"/alerts/{kind}/add/", typed).status_code == 302
    return model.objects.get()


def statements(operator: Client, kind: str, row: Any, act: str) -> list[str]:
    """What the database is asked while the form of `row` is sent to `act`."""
    with CaptureQueriesContext(connection) as asked:
        assert operator.post(f"/alerts/{kind}/{row.pk}/{act}", KINDS[kind][1]).status_code == 302
    return [query["sql"] for query in asked]


def changed_by_admin(address: str, typed: dict[str, str]) -> None:
    """Twenty seconds later, while somebody else has the form open."""
    admin = logged_in("admin")
    with time_machine.travel(NOW + timedelta(seconds=20), tick=False):
        assert admin.post(address, typed | {"version": version_in(admin.get(address).text)}).status_code == 302


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_is_told_and_keeps_what_they_typed(operator: Client, kind: str) -> None:
    _model, typed, field = KINDS[kind]
    row = made(operator, kind)
    address = f"/alerts/{kind}/{row.pk}/"
    mine = typed | {field: "mine", "version": version_in(operator.get(address).text)}
    changed_by_admin(address, typed | {field: "theirs"})
    answer = operator.post(address, mine)
    assert (answer.status_code, SENTENCE in shown(answer)) == (409, True)
    assert f'id="field-version" tabindex="-1"><a href="{address}"' in answer.text
    assert f'name="{field}" value="mine"' in answer.text
    row.refresh_from_db()
    assert (row.changed_by_name, getattr(row, field)) == ("admin", "theirs")
    again = operator.post(address, mine | {"version": version_in(answer.text)})
    row.refresh_from_db()
    assert (again.status_code, row.changed_by_name, getattr(row, field)) == (302, "operator", "mine")


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_alone_keeps_one_after_the_other(operator: Client, kind: str) -> None:
    _model, typed, field = KINDS[kind]
    row = made(operator, kind)
    address = f"/alerts/{kind}/{row.pk}/"
    for seconds, value in enumerate(("first", "second")):
        with time_machine.travel(NOW + timedelta(seconds=seconds), tick=False):
            opened = version_in(operator.get(address).text)
            assert operator.post(address, typed | {field: value, "version": opened}).status_code == 302
    row.refresh_from_db()
    assert getattr(row, field) == "second"


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_that_is_shown_again_for_something_else_is_still_the_one_that_was_opened(
    operator: Client, kind: str
) -> None:
    typed, row = KINDS[kind][1], made(operator, kind)
    address = f"/alerts/{kind}/{row.pk}/"
    opened = version_in(operator.get(address).text)
    changed_by_admin(address, typed)
    wrong = operator.post(address, typed | {"labels": "payments", "version": opened})
    assert (wrong.status_code, version_in(wrong.text)) == (400, opened)


def test_a_switch_changes_nothing_else_of_what_somebody_kept_meanwhile(operator: Client) -> None:
    row = made(operator, "rules")
    changed_by_admin(f"/alerts/rules/{row.pk}/", RULE | {"threshold": "40 min", "enabled": "1"})
    assert operator.post(f"/alerts/rules/{row.pk}/", {"switch": "off"}).status_code == 302
    row.refresh_from_db()
    assert (row.threshold, row.enabled) == (2400, False)


@pytest.mark.parametrize("act", ["", "remove/"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_row_is_read_anew_within_the_transaction_that_changes_it(operator: Client, kind: str, act: str) -> None:
    row = made(operator, kind)
    said = statements(operator, kind, row, act)
    begun = next(n for n, sql in enumerate(said) if sql.startswith("SAVEPOINT"))
    table = row._meta.db_table
    assert f'FROM "{table}" WHERE "{table}"."id" = {row.pk} ' in said[begun + 1]


# SQLite holds no rows, but the whole file.
@pytest.mark.postgres
@pytest.mark.parametrize("act", ["", "remove/"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_row_is_held_until_the_transaction_ends(operator: Client, kind: str, act: str) -> None:
    row = made(operator, kind)
    said = statements(operator, kind, row, act)
    assert any("FOR UPDATE" in sql and row._meta.db_table in sql for sql in said)


def test_one_that_was_removed_meanwhile_is_not_made_again(operator: Client) -> None:
    """Between the look whether it is there and the turn to change it."""
    row = made(operator, "notes")

    def removes(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("SAVEPOINT"):
            GroupNote.objects.all().delete()
        return execute(sql, *rest)

    with connection.execute_wrapper(removes):
        assert operator.post(f"/alerts/notes/{row.pk}/", NOTE).status_code == 404
    assert not GroupNote.objects.exists()


def test_one_whose_name_is_taken_just_then_is_no_failure(operator: Client) -> None:
    """Another one is kept between the checks and the writing."""
    others = ["of somebody else"]

    def comes_between(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "consumers_alertrule"') and others:
            a_rule(RULE["name"], note=others.pop())
        return execute(sql, *rest)

    with connection.execute_wrapper(comes_between):
        answer = operator.post("/alerts/rules/add/", RULE)
    assert (answer.status_code, 'value="20 min"' in answer.text) == (409, True)
    assert "Another user saved the same name" in shown(answer)


def seen_in(page: str) -> set[str]:
    """Of each form that acts on it."""
    return {piece.split('"')[0] for piece in page.split('name="seen" value="')[1:]}


@pytest.fixture
def incident(db: None) -> Incident:
    return an_incident(a_rule(), a_group(a_cluster()))


@pytest.mark.parametrize("said", [{"text": "on it"}, {"take_back": "1"}])
def test_somebody_else_who_looks_after_an_incident_since_is_told_of(
    operator: Client, incident: Incident, said: dict[str, str]
) -> None:
    address = f"/alerts/incidents/{incident.pk}/"
    (seen,) = seen_in(operator.get(address).text)
    at = NOW - timedelta(seconds=5, microseconds=17)
    Incident.objects.update(acknowledged_at=at, acknowledged_by_name="eve", acknowledgement="rolling back")
    answer = operator.post(address + "acknowledge/", said | {"seen": seen})
    assert answer.status_code == 409
    assert "eve acknowledged the incident at 2026-03-14 02:59:54 UTC" in shown(answer)
    assert f'value="{said.get("text", "")}"' in answer.text
    (seen,) = seen_in(answer.text)
    assert operator.post(address + "acknowledge/", said | {"seen": seen}).status_code == 302
    incident.refresh_from_db()
    assert incident.acknowledgement == said.get("text", "")


def test_nobody_is_told_of_their_own_acknowledgement(operator: Client, incident: Incident) -> None:
    address = f"/alerts/incidents/{incident.pk}/"
    (seen,) = seen_in(operator.get(address).text)
    for text in ("on it", "on it still"):
        assert operator.post(address + "acknowledge/", {"text": text, "seen": seen}).status_code == 302
