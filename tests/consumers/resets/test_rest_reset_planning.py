"""Plans asked for over REST: made by a worker against masters on real sockets, or refused, each in its way."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from consumers.jobs.hold import close_wires
from consumers.models import ConsumerGroup, Reset, ResetStatus
from consumers.words.reasons import stored_words
from tests.reset_cluster import FakeCluster, a_fake_cluster
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot

URL = "/api/v1/resets/"
CSV = "topic,broker,queue_id,offset\r\nOrders,broker-a,0,20\r\nOrders,broker-a,1,\r\n"
PLACE = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
MORE: dict[str, Any] = {"target": {"kind": "earliest"}}


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    """Two queues of Orders on a master, which hold offsets 10 to 99; `billing` stands at 50 in each."""
    with a_fake_cluster() as cluster:
        master = cluster.masters["broker-a"]
        for queue_id in range(2):
            master.ends["Orders", queue_id] = (10, 100)
            master.offsets["billing", "Orders", queue_id] = 50
        yield cluster


@pytest.fixture(autouse=True)
def billing(db: None, fake: FakeCluster) -> Iterator[ConsumerGroup]:
    cluster = a_cluster()
    cluster.namesrv = fake.namesrv
    cluster.save()
    a_broker(cluster, address=fake.masters["broker-a"].address)
    group = a_group(cluster)
    for queue_id in range(2):
        a_snapshot(group, a_queue(cluster, queue_id=queue_id), 50, 100)
    yield group
    close_wires()


def requested(kind: str = "offset", value: Any = 40, **fields: Any) -> dict[str, Any]:
    said = {"cluster": "prod", "group": "billing", "target": {"kind": kind, "value": value}, "reason": "orders lost"}
    return said | fields


def post(client: Client, body: Any, path: str = URL) -> Any:
    return client.post(path, body, content_type="application/json")


@pytest.mark.usefixtures("tasks_at_once")
def test_it_is_answered_with_the_plan_and_nothing_is_changed(operator_api: Client, fake: FakeCluster) -> None:
    answer = post(operator_api, requested())
    said = answer.json()
    assert (answer.status_code, said["status"], said["by"], said["error"]) == (201, "planned", "alice", None)
    assert [(row["queue_id"], row["now"], row["target"], row["replayed_messages"]) for row in said["queues"]] == [
        (0, 50, 40, 10),
        (1, 50, 40, 10),
    ]
    assert (said["totals"]["replayed_messages"], said["acts"]["apply"]) == (20, None)
    assert fake.masters["broker-a"].offsets["billing", "Orders", 0] == 50


@pytest.mark.usefixtures("tasks_at_once")
@pytest.mark.parametrize(
    ("body", "targets"),
    [
        (requested("earliest", None), {0: 10, 1: 10}),
        (requested(**MORE), {0: 10, 1: 10}),
        (requested("latest", None, topics=["Orders"]), {0: 100, 1: 100}),
        (requested("shift", -15, brokers=["broker-a"]), {0: 35, 1: 35}),
        (requested("offset", 5, queues=[PLACE], clip=True), {0: 10}),
        (requested("offsets", [PLACE | {"offset": 20}]), {0: 20}),
        (requested("csv", CSV), {0: 20}),
    ],
)
def test_each_way_to_wish_gives_its_targets(
    operator_api: Client, body: dict[str, Any], targets: dict[int, int]
) -> None:
    answer = post(operator_api, body)
    assert answer.status_code == 201, answer.content
    assert {row["queue_id"]: row["target"] for row in answer.json()["queues"]} == targets


@pytest.mark.usefixtures("redis_is_down")
@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ([], "non_field_errors", "dictionary"),
        ({}, "cluster", "required"),
        (requested("yesterday", None), "target", "not a valid choice"),
        (requested("restore", "x"), "target", "not a valid choice"),
        (requested("offset", -1), "target", "offset"),
        (requested("offset", None), "target", "offset"),
        (requested("shift", 0), "target", "moves nothing"),
        (requested("time", "yesterday"), "target", "is not a time"),
        (requested("earliest", 3), "target", "needs no value"),
        (requested("offsets", [PLACE]), "target", "Entry 1"),
        (requested("csv", "topic;queue\n"), "target", "The header lacks"),
        (requested("csv", 3), "target", "is its text"),
        (requested("copy", "\ud800"), "non_field_errors", "half of a surrogate pair"),
        (requested("offsets", [PLACE | {"topic": "Or\0ders", "offset": 1}]), "non_field_errors", "NUL"),
        (requested() | {"\udfff": 1}, "non_field_errors", "half of a surrogate pair"),
        (requested(queues=[PLACE | {"queue_id": 2**31}]), "queues", "2147483647"),
        (requested(reason=" "), "reason", "blank"),
        (requested(reason="x" * 2001), "reason", "2000"),
        (requested(topics=[]), "topics", "empty"),
        (requested(queues=[{"topic": "Orders", "broker": "broker-a"}]), "queues", "required"),
        (requested(topic="Orders"), "topic", "Allowed: brokers, clip,"),
        (requested(queues=[PLACE | {"offset": 3}]), "queues", "Unknown field"),
    ],
)
def test_what_is_malformed_is_refused_by_its_field(operator_api: Client, body: Any, field: str, words: str) -> None:
    answer = post(operator_api, body)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert words in str(answer.json()["errors"][field])
    assert not Reset.objects.exists()


@pytest.mark.usefixtures("redis_is_down")
def test_each_wrong_line_of_csv_is_told(operator_api: Client) -> None:
    answer = post(
        operator_api, requested("csv", "topic,broker,queue_id,offset\nOrders,broker-a,x,1\nOrders,broker-a,0,-1\n")
    )
    assert [line[:7] for line in answer.json()["errors"]["target"]] == ["Line 2:", "Line 3:"]


@pytest.mark.usefixtures("redis_is_down")
def test_a_body_that_is_too_long_is_a_problem_too(operator_api: Client) -> None:
    answer = post(operator_api, requested("csv", "x" * 3_000_000))
    assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")
    assert "longer than the site accepts" in answer.json()["detail"]


@pytest.mark.usefixtures("redis_is_down")
def test_queues_that_are_chosen_twice_are_named(operator_api: Client) -> None:
    answer = post(operator_api, requested(queues=[PLACE, PLACE]))
    assert answer.json()["detail"] == "Some queues are chosen twice: Orders/broker-a/0."


@pytest.mark.usefixtures("redis_is_down")
@pytest.mark.parametrize("missing", [{"cluster": "none"}, {"group": "none"}])
def test_a_group_that_is_not_there_is_not_found(operator_api: Client, missing: dict[str, str]) -> None:
    answer = post(operator_api, requested(**missing))
    assert (answer.status_code, "'none'" in answer.json()["detail"]) == (404, True)


@pytest.mark.usefixtures("redis_is_down")
def test_what_cannot_be_now_is_refused_with_the_reason(operator_api: Client, billing: ConsumerGroup) -> None:
    a_reset(billing, status=ResetStatus.APPLYING)
    answer = post(operator_api, requested())
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert answer.json()["detail"] == "Another reset of this group is being applied: wait until it ends."
    assert Reset.objects.count() == 1


@pytest.mark.usefixtures("tasks_at_once")
def test_what_the_brokers_say_against_it_refuses_it_too(operator_api: Client) -> None:
    answer = post(operator_api, requested("offset", 5))
    said, kept = answer.json(), Reset.objects.get()
    assert (answer.status_code, said["reset"], kept.status) == (409, str(kept.pk), ResetStatus.REFUSED)
    assert said["detail"] == stored_words(kept.error)
    assert "5" in said["detail"]


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_it_is_refused_and_not_left(operator_api: Client) -> None:
    answer = post(operator_api, requested())
    said, kept = answer.json(), Reset.objects.get()
    assert (answer.status_code, said["reset"], kept.status) == (503, str(kept.pk), ResetStatus.REFUSED)
    assert "Redis does not answer" in said["detail"]
    assert stored_words(kept.error) == said["detail"]


@pytest.mark.usefixtures("redis")
def test_a_plan_that_no_worker_has_made_yet_is_answered_as_that(operator_api: Client, settings: Any) -> None:
    settings.RESET_PLAN_WAIT_SECONDS = 0.1
    answer = post(operator_api, requested())
    said = answer.json()
    assert (answer.status_code, said["status"], said["queues"]) == (201, "planning", None)
    assert said["unknown"]["queues"] == "the plan is not ready yet"


def test_the_address_of_whoever_asks_is_kept(operator_api: Client, tasks_at_once: None) -> None:
    said = post(operator_api, requested()).json()
    first = said["events"][0]
    assert (first["by"], first["address"], first["via"]) == ("alice", "127.0.0.1", "rest")


@pytest.mark.usefixtures("tasks_at_once")
def test_the_way_back_is_planned_from_what_was_before(operator_api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED)
    a_reset_queue(reset, 0, step="read back", before=70, outcome="CONFIRMED")
    answer = post(operator_api, {"reason": "it was a mistake"}, f"{URL}{reset.pk}/restore/")
    said = answer.json()
    assert (answer.status_code, said["kind"], said["restores"]) == (201, "restore", str(reset.pk))
    assert [(row["queue_id"], row["target"]) for row in said["queues"]] == [(0, 70)]
    assert operator_api.get(f"{URL}{reset.pk}/").json()["restored_by"] == [said["id"]]


@pytest.mark.usefixtures("tasks_at_once")
def test_the_way_back_may_end_at_the_first_message_that_is_kept(operator_api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED)
    a_reset_queue(reset, 0, step="read back", before=3, outcome="CONFIRMED")
    refused = post(operator_api, {"reason": "a mistake"}, f"{URL}{reset.pk}/restore/")
    assert refused.status_code == 409
    said = post(operator_api, {"reason": "a mistake", "clip": True}, f"{URL}{reset.pk}/restore/").json()
    assert [(row["wanted"], row["target"], row["clipped"]) for row in said["queues"]] == [(3, 10, True)]


@pytest.mark.usefixtures("redis_is_down")
@pytest.mark.parametrize(
    ("body", "words"), [({}, "required"), ({"reason": " "}, "blank"), ({"why": "x"}, "Unknown field")]
)
def test_the_way_back_wants_a_reason(operator_api: Client, billing: ConsumerGroup, body: Any, words: str) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED)
    answer = post(operator_api, body, f"{URL}{reset.pk}/restore/")
    assert (answer.status_code, words in answer.text) == (400, True)


@pytest.mark.usefixtures("redis_is_down")
def test_there_is_no_way_back_from_what_was_not_applied(operator_api: Client, billing: ConsumerGroup) -> None:
    answer = post(operator_api, {"reason": "a mistake"}, f"{URL}{a_reset(billing).pk}/restore/")
    assert answer.status_code == 409
    assert "Only an applied reset can be rolled back" in answer.json()["detail"]


@pytest.mark.usefixtures("redis_is_down")
def test_a_viewer_plans_nothing(api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED)
    for path, body in ((URL, requested()), (f"{URL}{reset.pk}/restore/", {"reason": "x"})):
        answer = post(api, body, path)
        assert answer.status_code == 403
        assert "You need the role operator or admin" in answer.json()["detail"]
    assert Reset.objects.get() == reset
