"""GET /api/v1/groups/{cluster}/{group}/dlq/"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from consumers.models import ConsumerGroup
from tests.dead_letter_rows import MINUTE_AGO, a_letter, a_look, a_resend, an_item
from tests.world import NOW, a_cluster, a_group, a_total

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/dlq/"


@pytest.fixture
def billing() -> Iterator[ConsumerGroup]:
    with time_machine.travel(NOW, tick=False):
        yield a_group(a_cluster())


def test_it_answers_in_the_named_fields(billing: ConsumerGroup, api: Client) -> None:
    a_total(billing, 0, dlq_messages=1)
    a_look(billing, 7, 8)
    resend = a_resend(billing, by_name="ada")
    an_item(resend, a_letter(billing, 7))

    answer = api.get(URL).json()

    assert answer["results"] == [
        {
            "broker": "broker-a",
            "queue_id": 0,
            "offset": 7,
            "stored_id": "7F00000100002A9F0000000000000007",
            "message_id": "UNIQ-7",
            "origin_topic": "Order",
            "origin_message_id": None,
            "keys": "order-7",
            "tags": None,
            "reconsume_times": 4,
            "born_at": "2026-03-14T02:54:00Z",
            "stored_at": "2026-03-14T02:59:00Z",
            "size": 100,
            "sent_by_application": False,
            "resent": [{"at": "2026-03-14T02:59:00Z", "by": "ada", "result": "sent", "resend": str(resend.pk)}],
            "unknown": {"origin_message_id": "not in the message", "tags": "the message has no tags"},
        }
    ]
    assert answer["completeness"] == {
        "messages": 1,
        "indexed_messages": 1,
        "looked_at": "2026-03-14T03:00:00Z",
        "unknown_reason": None,
        "unknown": {},
    }
    assert (answer["count"], answer["next"], answer["previous"]) == (1, None, None)


@pytest.mark.parametrize(
    ("query", "offsets"),
    [
        ({}, [3, 2, 1]),
        ({"key": "order-2"}, [2]),
        ({"key_part": "order"}, [3, 2, 1]),
        ({"tag": "paid"}, [3]),
        ({"message_id": "UNIQ-1"}, [1]),
        ({"origin_topic": "Order"}, [3, 2, 1]),
        ({"resent": "true"}, [1]),
        ({"resent": "false"}, [3, 2]),
        ({"from": "2026-03-14T02:59:02Z"}, [3, 2]),
        ({"to": "2026-03-14T02:59:02Z"}, [1]),
        ({"page_size": "2", "page": "2"}, [1]),
    ],
)
def test_it_lists_what_is_asked_for(
    billing: ConsumerGroup, api: Client, query: dict[str, str], offsets: list[int]
) -> None:
    for offset in (1, 2, 3):
        stored_at = MINUTE_AGO + timedelta(seconds=offset)
        letter = a_letter(billing, offset, stored_at=stored_at, tags="paid" if offset == 3 else None)
        if offset == 1:
            an_item(a_resend(billing), letter)
    assert [row["offset"] for row in api.get(URL, query).json()["results"]] == offsets


def test_what_could_not_be_read_is_no_empty_list(billing: ConsumerGroup, api: Client) -> None:
    a_look(billing, None, None, error="it can be written only")
    answer = api.get(URL).json()
    assert answer["results"] == []
    assert answer["completeness"]["unknown_reason"] == "broker-a: it can be written only"
    assert answer["completeness"]["messages"] is None


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"resent": "maybe"}, "resent"),
        ({"from": "noon"}, "from"),
        ({"from": "2026-03-14T03:00:00Z", "to": "2026-03-14T03:00:00Z"}, "from"),
        ({"keys": "order"}, "keys"),
        ({"page_size": "1001"}, "page_size"),
    ],
)
def test_a_wrong_parameter_is_refused(billing: ConsumerGroup, api: Client, query: dict[str, str], name: str) -> None:
    answer = api.get(URL, query)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])


@pytest.mark.parametrize(
    ("url", "detail"),
    [
        ("/api/v1/groups/prod/nobody/dlq/", "There is no group 'nobody' in cluster 'prod'."),
        ("/api/v1/groups/test/billing/dlq/", "There is no cluster 'test'."),
        (f"{URL}?page=2", "There is no page 2: the last of 0 results is page 1."),
    ],
)
def test_what_is_missing_is_named(billing: ConsumerGroup, api: Client, url: str, detail: str) -> None:
    answer = api.get(url)
    assert (answer.status_code, answer.json()["detail"]) == (404, detail)


def test_it_can_only_be_read(billing: ConsumerGroup, api: Client) -> None:
    assert api.post(URL).status_code == 405


def test_it_is_not_for_strangers(billing: ConsumerGroup, client: Client) -> None:
    assert client.get(URL).status_code == 401
