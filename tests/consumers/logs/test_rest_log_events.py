"""GET /api/v1/groups/{cluster}/{group}/log-events/, and the logs among the answers of GET /api/v1/clusters/"""

import pytest
import time_machine

from tests.log_rows import a_log_event, a_log_file
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/log-events/"


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        yield a_group(a_cluster(client_logs="/logs/*/rocketmq_client.log"))


@pytest.fixture
def file(billing):
    return a_log_file(billing.cluster)


def codes(api, **query):
    return [row["code"] for row in api.get(URL, query).json()["results"]]


def test_it_answers_in_the_named_fields(billing, file, api):
    event = a_log_event(billing, file, "offset_illegal", params={"offset": 7, "next_offset": 9})

    assert api.get(URL).json()["results"] == [
        {
            "id": event.pk,
            "code": "offset_illegal",
            "sentence": "pull offset illegal",
            "began_at": "2026-03-14T02:59:30Z",
            "at": "2026-03-14T02:59:30Z",
            "lines": 1,
            "group": "billing",
            "client_id": "10.0.0.7@3312",
            "topic": "Orders",
            "broker": "broker-a",
            "queue_id": 1,
            "params": {"offset": 7, "next_offset": 9},
            "role": "client",
            "path": "/logs/app-1/rocketmq_client.log",
            "position": 3072,
        }
    ]


def test_the_newest_come_first_and_those_of_other_groups_not_at_all(billing, file, api):
    a_log_event(billing, file, "locked", at=ago(60))
    a_log_event(billing, file, "unlocked", at=ago(10))
    a_log_event(a_group(billing.cluster, "email"), file)
    assert codes(api) == ["unlocked", "locked"]


def test_a_range_has_what_went_on_in_it(billing, file, api):
    a_log_event(billing, file, "committed", began_at=ago(600), at=ago(100))
    a_log_event(billing, file, "locked", began_at=ago(700), at=ago(700))
    a_log_event(billing, file, "unlocked", began_at=ago(50), at=ago(50))
    assert codes(api, **{"from": ago(300).isoformat(), "to": ago(200).isoformat()}) == ["committed"]
    assert codes(api, **{"from": ago(300).isoformat(), "to": ago(40).isoformat()}) == ["unlocked", "committed"]


def test_a_code_narrows_the_list(billing, file, api):
    a_log_event(billing, file, "locked")
    a_log_event(billing, file, "unlocked")
    assert codes(api, code="locked") == ["locked"]
    assert api.get(URL, {"code": "no such"}).status_code == 400


def test_a_missing_group_is_not_found(billing, api):
    assert api.get("/api/v1/groups/prod/none/log-events/").status_code == 404


def test_clusters_have_their_logs_with_what_is_wrong(billing, file, api):
    a_log_file(
        billing.cluster, "/logs/app-2/a.log", identity="1:8", offset=0, zone_agrees_at=None, read_at=None,
        problem={"code": "zone_differs", "params": {"zone": "+08:00", "minutes": -480}},
    )  # fmt: skip
    a_log_file(billing.cluster, "/logs/gone.log", identity="1:9", gone_at=ago(2 * 86400))

    fine, wrong = api.get("/api/v1/clusters/").json()["results"][0]["logs"]

    assert (fine["path"], fine["read_bytes"], fine["unknown"], fine["problem"]) == (
        "/logs/app-1/rocketmq_client.log",
        4096,
        {},
        None,
    )
    assert (wrong["problem_code"], wrong["read_at"]) == ("zone_differs", None)
    assert wrong["unknown"]["read_at"] == wrong["problem"]
    assert "-480 min off" in wrong["problem"]
