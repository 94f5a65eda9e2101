"""Two people who change the same thing at once."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models.signals import pre_save
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.models import AlertRule, GroupNote
from tests.alert_rows import a_note, a_rule

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
RULES = "/api/v1/alert-rules/"
WISH = {"name": "Far behind", "measure": "lag_messages", "comparison": "above", "threshold": 5, "severity": "info"}
JSON = "application/json"


@pytest.fixture
def another_is_faster() -> Iterator[None]:
    """Between the look whether a name is free and the row of that name."""

    def keep(instance: AlertRule, **_others: Any) -> None:
        if instance.name == WISH["name"]:
            pre_save.disconnect(keep, sender=AlertRule)
            a_rule(instance.name)

    pre_save.connect(keep, sender=AlertRule)
    yield
    pre_save.disconnect(keep, sender=AlertRule)


def test_of_two_who_take_a_name_at_once_one_is_told(operator_api: Client, another_is_faster: None) -> None:
    answer = operator_api.post(RULES, WISH, JSON)
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert "check what exists" in answer.json()["detail"]


def test_of_two_who_rename_at_once_one_is_told(operator_api: Client, another_is_faster: None) -> None:
    rule = a_rule("Behind")
    answer = operator_api.patch(f"{RULES}{rule.pk}/", {"name": WISH["name"]}, JSON)
    assert answer.status_code == 409
    assert AlertRule.objects.get(pk=rule.pk).name == "Behind"


# SQLite holds no rows, but the whole file.
@pytest.mark.postgres
@pytest.mark.parametrize(
    ("method", "body"), [("put", {"group_pattern": "*", "owner": "x"}), ("patch", {}), ("delete", None)]
)
def test_a_row_is_held_while_it_is_changed(operator_api: Client, method: str, body: Any) -> None:
    path = f"/api/v1/group-notes/{a_note().pk}/"
    with CaptureQueriesContext(connection) as asked:
        getattr(operator_api, method)(path, body, JSON)
    table = GroupNote._meta.db_table
    assert any("FOR UPDATE" in query["sql"] and table in query["sql"] for query in asked)
