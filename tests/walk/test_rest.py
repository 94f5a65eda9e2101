"""Every field of every resource: no zero that was not read, no null without its reason, no claim without an answer."""

from typing import Any

import pytest
from django.test import Client

from consumers.urls import urlpatterns
from tests.walk.addresses import PROD_BILLING, resources
from tests.walk.documents import LIES, leaves
from tests.walk.losses import NO_CLIENT

PATHS = list(resources(urlpatterns))


def test_no_field_of_any_resource_says_what_was_not_read(world: str, api: Client) -> None:
    absent = PROD_BILLING["client"] if world in NO_CLIENT else None
    answers = {path: api.get(path) for path in PATHS if absent is None or absent not in path}
    assert {answer.status_code for answer in answers.values()} == {200}
    walked = [leaf for path, answer in answers.items() for leaf in leaves(path, answer.json())]
    assert len(walked) > 50
    found = [(lie.__name__, leaf.path, *leaf.place) for lie in LIES for leaf in lie(walked, world)]
    assert sorted(set(found)) == []


@pytest.mark.parametrize(
    ("document", "lie"),
    [
        ({"results": [{"lag_messages": 0, "unknown_reason": None}]}, "invented_zeros"),
        ({"topics": [{"consume_rate": 0.0}]}, "invented_zeros"),
        ({"online": False}, "denials_without_an_answer"),
        ({"lag_messages": None, "unknown_reason": None, "unknown": {"lag_messages": "x"}}, "nulls_without_a_reason"),
        ({"members": None, "unknown": {"members": ""}}, "nulls_without_a_reason"),
        ({"exposure": {"low": None}, "unknown": {}}, "nulls_without_a_reason"),
        ({"points": [{"lag_messages": 1, "consume_rate": None, "unknown_reason": None}]}, "nulls_without_a_reason"),
        ({"clients": [], "unknown": {}}, "lists_empty_for_want_of_an_answer"),
        ({"state_detail": ""}, "empty_texts"),
    ],
)
def test_the_walk_finds_a_lie(document: dict[str, Any], lie: str) -> None:
    walked = list(leaves("/", document))
    assert {found.__name__ for found in LIES if list(found(walked, "dead_broker"))} >= {lie}
