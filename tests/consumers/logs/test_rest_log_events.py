"""GET /api/v1/groups/{cluster}/{group}/log-events/, and the logs among the answers of GET /api/v1/clusters/"""

import pytest
import time_machine

from consumers.logs.parse.parser import FAMILIES_OF
from consumers.models import Cluster
from consumers.vocabulary.logs import LogCode, LogRole
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


def completeness(api, **query):
    return api.get(URL, query).json()["completeness"]


WEEK = 7 * 86400
FOLLOWED = {"first_seen_at": ago(WEEK + 60)}


@pytest.fixture
def followed():
    """Logs of clients and brokers are followed for as long as events are kept."""
    with time_machine.travel(NOW, tick=False):
        group = a_group(a_cluster(client_logs="/logs/*/rocketmq_client.log", broker_logs="/logs/broker.log"))
        a_log_file(group.cluster, **FOLLOWED)
        a_log_file(group.cluster, "/logs/broker.log", identity="1:8", role="broker", **FOLLOWED)
        yield group.cluster


def test_a_count_of_logs_that_were_all_read_is_exact(followed, api):
    assert completeness(api) == {
        "count_is_lower_bound": False,
        "from": "2026-03-07T03:00:00Z",
        "to": "2026-03-14T03:00:00Z",
        "unknown_reason": None,
        "unknown": {},
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"read_at": ago(600)}, "1 log is not read up to the end of the range: see the logs of the cluster"),
        ({"identity": "", "read_at": None, "problem": {"code": "glob.no_file", "params": {}}}, "1 log is not read"),
        ({"unknown_lines": 3}, "lines of 1 log are missing or were not understood"),
        ({"truncations": 1}, "lines of 1 log are missing"),
        ({"skipped_bytes": 4096, "first_seen_at": ago(600)}, "lines of 1 log are missing"),
        (
            {"gone_at": ago(600), "read_at": ago(700), "problem": {"code": "replaced_unread", "params": {}}},
            "lines of 1 log are missing",
        ),
    ],
    ids=["worker late", "no file", "not understood", "emptied", "too large", "replaced"],
)
def test_a_count_beside_a_log_that_was_not_all_read_is_a_lower_bound(followed, api, fields, reason):
    a_log_file(followed, "/logs/app-2/rocketmq_client.log", **({"identity": "1:9"} | FOLLOWED | fields))

    found = completeness(api)

    assert found["count_is_lower_bound"]
    assert found["unknown_reason"].startswith(reason)


@pytest.mark.parametrize(
    "fields",
    [
        {"read_at": ago(600)},
        {"gone_at": ago(86400), "read_at": ago(86400)},
        {"identity": "", "read_at": None, "problem": {"code": "glob.packed", "params": {"files": 2}}},
        {"skipped_bytes": 4096},
    ],
    ids=["read up to the end", "gone as it was read", "packed", "skipped before it was followed"],
)
def test_what_was_lost_outside_the_range_makes_no_lower_bound(followed, api, fields):
    a_log_file(followed, "/logs/app-2/rocketmq_client.log", **({"identity": "1:9"} | FOLLOWED | fields))

    assert not completeness(api, to=ago(1200).isoformat())["count_is_lower_bound"]


def test_logs_that_are_not_named_or_not_read_yet_have_more_events(billing, api):
    assert completeness(api)["unknown_reason"] == "no client log was read yet"
    Cluster.objects.update(client_logs="")
    assert completeness(api)["unknown_reason"] == "no logs are named for this cluster"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({}, None),
        ({"code": "locked"}, None),
        ({"code": "lock_granted"}, "no broker logs are named for this cluster"),
    ],
)
def test_a_site_that_names_logs_of_one_kind_counts_exactly_what_these_tell(followed, api, query, reason):
    Cluster.objects.update(broker_logs="")
    assert completeness(api, **query)["unknown_reason"] == reason


def test_each_code_is_told_by_the_logs_of_one_kind():
    told = {role: {line.code for family in families for line in family.lines} for role, families in FAMILIES_OF.items()}
    assert told == {role: {code for code in LogCode if code.role == role} for role in LogRole}


def test_a_range_before_logs_were_followed_or_events_kept_has_more(followed, api):
    found = completeness(api, **{"from": ago(WEEK + 3600).isoformat()})
    assert found["unknown_reason"] == (
        "client logs are followed only since 2026-03-07 02:59:00 UTC; broker logs are followed only since"
        " 2026-03-07 02:59:00 UTC; log events are retained only since 2026-03-07 03:00:00 UTC"
    )


def test_the_list_as_csv_ends_with_why_there_may_be_more(billing, api):
    answer = api.get(URL, {"format": "csv"})
    assert b"".join(answer.streaming_content).decode().splitlines()[-1].startswith("# incomplete: no client log was")
