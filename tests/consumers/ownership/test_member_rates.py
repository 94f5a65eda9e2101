"""What members report of themselves over time, out of the lake."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.lake.schemas import MEMBER_RATES
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.ownership.member_rates import member_rates
from consumers.queries.windows import TooManyPoints
from consumers.vocabulary.reasons import ReasonCode, reason_code
from tests.ownership_rows import a_member
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
STATUS = {"consume_ok_tps": 2.0, "consume_failed_tps": 0.0, "consume_rt": 10.0, "pull_tps": 2.0, "pull_rt": 100.0}
STATUS |= {"cached_count": 3, "cached_mib": 1}
URL = "/api/v1/groups/prod/billing/members/rates/"


@pytest.fixture
def group(tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    group = a_group(a_cluster())
    a_member(group, "c1", since=3600)
    return group


@pytest.fixture
def put(tmp_path):
    """Writes one poll of so many seconds ago: rows of c1's topic Orders, unless they say otherwise."""

    def write(seconds, *rows):
        taken = ago(seconds)
        common = {"cluster": "prod", "taken_at": taken, "group": "billing", "client_id": "c1", "topic": "Orders"}
        table = pa.Table.from_pylist([common | row for row in rows], MEMBER_RATES)
        name = f"{hour_folder('member_rates', 'prod', taken)}/{file_name(taken)}"
        Lake.at(str(tmp_path)).write(table, name, MEMBER_RATES)

    return write


def points(group, minutes=3, **wanted):
    """Of the one member, by minute from the oldest on."""
    found = member_rates(group, since=ago(60 * minutes), until=NOW, now=NOW, **wanted)
    (series,) = found.series
    return series.points


def test_rates_are_means_and_held_messages_the_most_of_the_answers_of_a_window(group, put):
    put(170, STATUS)
    put(150, STATUS | {"consume_ok_tps": 4.0, "cached_count": 7})
    point = points(group)[0]
    assert (point.consume_ok_tps, point.pull_tps, point.cached_messages, point.answers) == (3.0, 2.0, 7, 2)


def test_topics_of_an_answer_add_up_and_their_times_count_by_their_messages(group, put):
    slow = {"topic": "Slow", "consume_ok_tps": 0.5, "consume_failed_tps": 0.5, "consume_rt": 40.0, "cached_count": 2}
    put(150, STATUS, STATUS | slow)
    point = points(group)[0]
    assert (point.consume_ok_tps, point.consume_failed_tps, point.cached_messages) == (2.5, 0.5, 5)
    assert point.consume_rt_ms == pytest.approx((2 * 10 + 1 * 40) / 3)


def test_one_topic_can_be_chosen(group, put):
    put(150, STATUS, STATUS | {"topic": "Slow", "consume_ok_tps": 0.5})
    assert points(group, topic="Slow")[0].consume_ok_tps == 0.5


def test_a_time_of_no_message_is_null_and_not_that_of_the_last_hour(group, put):
    put(150, STATUS | {"consume_ok_tps": 0.0})
    point = points(group)[0]
    assert (point.consume_ok_tps, point.consume_rt_ms, point.pull_rt_ms) == (0.0, None, 100.0)
    assert reason_code(point.unknown["consume_rt_ms"]) is ReasonCode.NO_MESSAGE_IN_WINDOW


def test_a_part_of_the_topics_is_no_sum(group, put):
    put(150, STATUS, STATUS | {"topic": "Slow", "cached_mib": None})
    point = points(group)[0]
    assert (point.cached_messages, point.cached_mib) == (6, None)
    assert reason_code(point.unknown["cached_mib"]) is ReasonCode.MEMBER_DOES_NOT_REPORT


def test_a_window_in_which_the_member_did_not_answer_has_its_error(group, put):
    put(150, {"error": "10.0.0.1:10911: no answer within 3 s", "topic": None})
    point = points(group)[0]
    assert (point.consume_ok_tps, point.answers) == (None, 0)
    assert point.unknown_reason == "10.0.0.1:10911: no answer within 3 s"


def test_a_window_in_which_nobody_asked_is_unknown(group, put):
    put(150, STATUS)
    codes = [reason_code(point.unknown_reason) for point in points(group)]
    assert codes == [None, ReasonCode.MEMBER_NOT_ASKED, ReasonCode.MEMBER_NOT_ASKED]


def test_before_it_was_listed_it_was_no_member(group, put):
    a_member(group, "c2", since=100)
    found = member_rates(group, since=ago(180), until=NOW, now=NOW, client_id="c2")
    (series,) = found.series
    assert reason_code(series.points[0].unknown_reason) is ReasonCode.NOT_A_MEMBER
    assert reason_code(series.points[1].unknown_reason) is ReasonCode.MEMBER_NOT_ASKED


def test_what_is_older_than_it_is_retained_says_so(group):
    group.clients.update(seen_since=NOW - timedelta(days=9))
    found = member_rates(group, since=NOW - timedelta(days=8), until=NOW - timedelta(days=8, hours=-2), now=NOW)
    assert found.series[0].points[0].unknown_reason == "what members report is retained for 7 days"


def test_more_points_of_members_than_allowed_are_refused_with_what_fits(group, settings):
    a_member(group, "c2", since=3600)
    settings.HISTORY_POINTS = 5
    with pytest.raises(TooManyPoints, match="name a member"):
        points(group, step_seconds=60)


def test_rest_gives_every_window_with_its_numbers_or_reasons(group, put, api, stopped_clock):
    put(150, STATUS)
    seen = api.get(URL, {"from": ago(180).isoformat(), "to": NOW.isoformat(), "step": 60}).json()
    (series,) = seen["series"]
    first, second, _ = series["points"]
    assert (seen["step_seconds"], series["client_id"]) == (60, "c1")
    assert (first["at"], first["consume_ok_tps"], first["pull_rt_ms"]) == ("2026-03-14T02:57:00Z", 2.0, 100.0)
    assert (second["consume_ok_tps"], second["unknown_reason"]) == (None, "the member did not report in this window")


@pytest.mark.parametrize(("query", "status"), [("?step=7", 400), ("?by=queue", 400), ("?client_id=nobody", 200)])
def test_rest_refuses_what_it_does_not_know(group, api, stopped_clock, query, status):
    assert api.get(f"{URL}{query}").status_code == status


def test_rest_has_none_of_a_group_that_there_is_not(group, api):
    assert api.get("/api/v1/groups/prod/nobody/members/rates/").status_code == 404
