"""What is read of a body, and what is refused before any resource looks at it."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import GroupNote
from tests.world import a_cluster, a_group

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
NOTES = "/api/v1/group-notes/"


def asked(api: Client, body: str | bytes) -> Any:
    return api.post(NOTES, body, content_type="application/json")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested more than 20 levels deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested more than 20 levels deep"),
        ("[" * 22 + "]" * 22, "nested more than 20 levels deep"),
        ('{"group_pattern": "a*", "owner": "ann", "group_pattern": "*"}', 'The body has "group_pattern" twice'),
        ('{"group_pattern": "a*", "labels": {"team": "a", "team": "b"}}', 'The body has "team" twice'),
        ('{"group_pattern": "a*", "position": NaN}', "The body is not JSON"),
        ('{"group_pattern": ', "The body is not JSON"),
        (b'{"group_pattern": "\xff"}', "The body is not JSON"),
        ("9" * 5_000, "The body is not JSON"),
    ],
)
def test_a_body_that_nobody_can_mean_is_refused_with_a_sentence(
    operator_api: Client, body: str | bytes, sentence: str
) -> None:
    answer = asked(operator_api, body)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert sentence in answer.json()["detail"]
    assert not GroupNote.objects.exists()


def test_a_body_may_be_as_deep_as_any_resource_is(operator_api: Client) -> None:
    answer = asked(operator_api, "[" * 20 + "]" * 20)
    assert "nested" not in answer.content.decode()


@pytest.mark.parametrize("charset", ["rot13", "hex", "no-such"])
def test_a_charset_says_nothing_of_json(operator_api: Client, charset: str) -> None:
    kind = f"application/json; charset={charset}"
    answer = operator_api.generic("POST", NOTES, '{"group_pattern": "a*", "owner": "é"}'.encode(), content_type=kind)
    assert answer.json()["owner"] == "é"


def test_half_of_a_character_is_refused_wherever_it_stands(operator_api: Client) -> None:
    a_group(a_cluster())
    body = '{"all": true, "destination": "\\ud800", "reason": "the database was down"}'
    answer = operator_api.post("/api/v1/groups/prod/billing/resends/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "half of a surrogate pair" in answer.json()["errors"]["non_field_errors"][0]
