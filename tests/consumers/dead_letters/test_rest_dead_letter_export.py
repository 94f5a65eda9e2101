"""Exports over REST: what they hold for whom, and what is said where they cannot be, or are not, whole."""

import csv
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from redis import Redis

from consumers.dead_letters.export_channel import Channel, ChunkWriter
from consumers.dead_letters.export_stream import CONTENT, FACTS
from consumers.jobs.hold import close_wires
from consumers.models import AuditEvent, Broker, ConsumerGroup
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.dead_letter_rows import a_letter, a_resend, an_item
from tests.world import a_broker, a_cluster, a_group

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_at_once")]
URL = "/api/v1/groups/prod/billing/dlq/export/"


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    letters = {n: stored_letter(n, b'{"order": %d}' % n, properties={"customer": "Ada"}) for n in range(5, 105)}
    with a_dead_letter_broker(letters) as broker:
        a_broker(a_cluster(), address=broker.address)
        yield broker
        close_wires()


@pytest.fixture
def group(broker: DeadLetterBroker) -> ConsumerGroup:
    return a_group(Broker.objects.get().cluster)


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content).decode()


def status_of(answer: Any) -> int:
    """Of an answer that is read to its end: closing it half-way closes the test's transaction with it."""
    if answer.streaming:
        b"".join(answer.streaming_content)
    return int(answer.status_code)


def rows_of(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(answer), newline="")))


def become(user: User, role: str) -> None:
    user.groups.add(Group.objects.get(name=role))


@pytest.mark.usefixtures("group")
def test_it_holds_every_letter_of_the_brokers_though_none_has_a_row(api: Client) -> None:
    answer = api.get(URL)
    rows = rows_of(answer)
    assert [int(row["offset"]) for row in rows] == list(range(5, 105))
    assert tuple(rows[0]) == FACTS
    assert (rows[0]["broker"], rows[0]["message_id"], rows[0]["origin_topic"]) == ("broker-a", "UNIQ-5", "Orders")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="dead-letters-prod-billing.csv"'


@pytest.mark.usefixtures("group")
def test_json_lines_say_the_same(api: Client) -> None:
    rows = [json.loads(line) for line in text_of(api.get(URL, {"format": "jsonl"})).splitlines()]
    assert [row["offset"] for row in rows] == list(range(5, 105))
    assert (rows[0]["tags"], rows[0]["sent_by_application"], rows[0]["was_resent"]) == (None, None, False)


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 200), ("admin", 200)])
def test_bodies_are_for_those_who_may_see_them(api: Client, api_user: User, role: str, status: int) -> None:
    become(api_user, role)
    answer = api.get(URL, {"bodies": "1"})
    assert status_of(answer) == status
    assert AuditEvent.objects.filter(sentence__contains="with their bodies").count() == (status == 200)
    if status == 403:
        assert "consumers.view_message_body" in answer.json()["detail"]


@pytest.mark.usefixtures("group")
def test_without_bodies_nothing_of_the_content_leaves_the_worker(api: Client, api_user: User) -> None:
    become(api_user, "operator")
    text = text_of(api.get(URL, {"format": "jsonl"}))
    assert "Ada" not in text
    assert '\\"order\\"' not in text
    assert not any(name in text for name in CONTENT)
    assert not AuditEvent.objects.exists()


@pytest.mark.usefixtures("group")
def test_with_bodies_it_holds_text_or_base64_and_all_properties(
    api: Client, api_user: User, broker: DeadLetterBroker
) -> None:
    become(api_user, "operator")
    letters = broker.letters["%DLQ%billing"]
    letters[6] = stored_letter(6, zlib.compress(b"packed"), sys_flag=1)
    letters[7] = stored_letter(7, b"\xac\xed\x00")
    letters[8] = stored_letter(8, b"broken", sys_flag=1)
    json_row, text, binary, broken, *_ = (
        json.loads(line) for line in text_of(api.get(URL, {"format": "jsonl", "bodies": "1"})).splitlines()
    )
    assert (json_row["body_kind"], json_row["body_text"]) == ("json", '{"order": 5}')
    assert json_row["properties"]["customer"] == "Ada"
    assert (text["body_kind"], text["body_text"], text["body_compression"]) == ("text", "packed", "zlib")
    assert (binary["body_kind"], binary["body_text"], binary["body_base64"]) == ("binary", None, "rO0A")
    assert (broken["body_kind"], broken["body_bytes"]) == (None, None)
    assert "cannot be opened" in broken["body_error"]


def test_filters_choose_as_they_do_in_the_list(api: Client, group: ConsumerGroup) -> None:
    assert [row["offset"] for row in rows_of(api.get(URL, {"key": "order-41"}))] == ["41"]
    stored_id = f"7F00000100002A9F{41_000:016X}"
    an_item(a_resend(group), a_letter(group, 41, stored_id=stored_id))
    (row,) = rows_of(api.get(URL, {"resent": "true"}))
    assert (row["offset"], row["was_resent"]) == ("41", "true")
    assert len(rows_of(api.get(URL, {"resent": "false"}))) == 99


@pytest.mark.usefixtures("group")
def test_nothing_that_is_chosen_is_a_head_and_no_more(api: Client) -> None:
    assert text_of(api.get(URL, {"key": "nobody's"})) == ",".join(FACTS) + "\r\n"
    assert text_of(api.get(URL, {"key": "nobody's", "format": "jsonl"})) == ""


@pytest.mark.usefixtures("group")
def test_a_group_without_dead_letters_is_a_head_and_no_more(api: Client, broker: DeadLetterBroker) -> None:
    broker.letters.clear()
    assert text_of(api.get(URL)) == ",".join(FACTS) + "\r\n"


@pytest.mark.usefixtures("group")
def test_a_broker_that_does_not_answer_is_a_problem_and_no_file(api: Client) -> None:
    Broker.objects.update(address="127.0.0.1:1")
    answer = api.get(URL)
    assert answer.status_code == 503
    assert "127.0.0.1:1" in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("format", "begins"), [("csv", "# incomplete: "), ("jsonl", '{"error": ')])
def test_an_export_that_breaks_off_says_so_and_how_many_there_were(
    api: Client, broker: DeadLetterBroker, format: str, begins: str
) -> None:
    broker.lost = set(range(60, 105))
    *rows, last = text_of(api.get(URL, {"format": format})).splitlines()
    assert last.startswith(begins)
    assert "returned no message at offset" in last
    assert "55" in last
    assert len(rows) == 55 + (format == "csv")


def test_an_export_without_a_broker_of_which_slaves_alone_are_known_says_so(api: Client, group: ConsumerGroup) -> None:
    a_broker(group.cluster, "broker-b", address="")
    *rows, last = text_of(api.get(URL)).splitlines()
    assert len(rows) == 1 + 100
    assert last == "# incomplete: The name server lists no master of broker-b. (100 messages before)"


@pytest.mark.usefixtures("group")
def test_a_broker_that_refuses_is_told_with_what_to_do(api: Client, broker: DeadLetterBroker) -> None:
    broker.refuses[RequestCode.GET_TOPIC_STATS_INFO] = ResponseCode.NO_PERMISSION
    assert "NO_PERMISSION" in api.get(URL).json()["detail"]


@pytest.mark.usefixtures("group")
def test_more_exports_than_may_go_on_are_told_to_wait(api: Client, settings: Any, redis: Redis) -> None:
    settings.DEAD_LETTER_EXPORTS = 1
    with ChunkWriter(Channel("another")) as other:
        assert other.take_place(1)
        answer = api.get(URL)
        assert 0 < redis.ttl("consumerscope:export-place:0") <= 20
    assert answer.status_code == 503
    assert "1 exports are running, which is the maximum" in answer.json()["detail"]
    assert [status_of(api.get(URL)) for _ in range(2)] == [200, 200]


@pytest.mark.usefixtures("group")
def test_it_takes_no_longer_than_the_site_says(api: Client, settings: Any) -> None:
    settings.DEAD_LETTER_EXPORT_SECONDS = 0
    assert "The export took longer than 0 s" in api.get(URL).json()["detail"]


@pytest.mark.usefixtures("group")
def test_with_redis_down_it_is_a_problem(api: Client, settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    answer = api.get(URL)
    assert answer.status_code == 503
    assert "Redis does not answer" in answer.json()["detail"]


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(
    ("query", "names"),
    [({"format": "xml"}, "format"), ({"page": "1"}, "page"), ({"from": "soon"}, "from"), ({"bodies": "x"}, "bodies")],
)
def test_a_parameter_that_makes_no_sense_is_named(api: Client, query: dict[str, str], names: str) -> None:
    answer = api.get(URL, query)
    assert answer.status_code == 400
    assert names in answer.json()["errors"]


def test_it_wants_a_token_a_group_that_exists_and_get(api: Client, client: Client, group: ConsumerGroup) -> None:
    assert client.get(URL).status_code == 401
    assert api.get(URL.replace("billing", "nobody")).status_code == 404
    assert api.post(URL).status_code == 405


@pytest.mark.usefixtures("group")
def test_only_the_groups_own_dead_letters_are_asked_for(api: Client, broker: DeadLetterBroker, redis: Redis) -> None:
    text_of(api.get(URL))
    assert {request.ext_fields["topic"] for request in broker.asked} == {"%DLQ%billing"}
    assert redis.keys("consumerscope:export:*") == []


@pytest.mark.usefixtures("group")
def test_a_reader_that_hangs_up_tells_the_worker_at_once(api: Client, redis: Redis) -> None:
    answer = api.get(URL)
    (room,) = redis.keys("consumerscope:export:*:room")  # type: ignore[misc]
    answer.close()
    assert redis.lindex(room, 0) == b"stop"
    assert redis.keys("consumerscope:export:*:chunks") == []


@pytest.mark.usefixtures("group")
def test_a_letter_with_an_impossible_time_ends_an_export_with_the_reason(api: Client, broker: DeadLetterBroker) -> None:
    broker.letters["%DLQ%billing"] = {5: stored_letter(5, born_ms=2**63 - 1)}
    last = text_of(api.get(URL)).splitlines()[-1]
    assert last.startswith("# incomplete:")
    assert "broker-a: the message at 5 bears a time that no calendar has" in last
