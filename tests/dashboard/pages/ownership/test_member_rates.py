"""The chart of what members report over time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import time_machine
from django.test import Client
from pytest_django.fixtures import Settings

from consumers.lake.schemas import MEMBER_RATES
from consumers.lake.store import COMPACTED, Lake, hour_folder
from consumers.models import ConsumerGroup
from tests.ownership_rows import a_member
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
RANGE = "2026-03-14T02:55:00Z..2026-03-14T03:00:00Z"
Report = Callable[..., None]


@pytest.fixture
def group(tmp_path: Path, settings: Settings) -> Iterator[ConsumerGroup]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    with time_machine.travel(NOW, tick=False):
        yield a_group(a_cluster(), first_seen_at=ago(7200), membership_at=ago(5))


def report(tmp_path: Path, *rows: dict[str, Any]) -> None:
    """Each of `minutes` before now, for a member and the topic Orders."""
    common = {"cluster": "prod", "group": "billing", "topic": "Orders"}
    table = pa.Table.from_pylist(
        [common | {"taken_at": ago(60 * row.pop("minutes") - 10), **row} for row in rows], MEMBER_RATES
    )
    Lake.at(str(tmp_path)).write(table, f"{hour_folder('member_rates', 'prod', ago(60))}/{COMPACTED}", MEMBER_RATES)


def figure(client: Client, measure: str = "consume_ok_tps") -> dict[str, Any]:
    answer = client.get("/figures/prod/billing/member-rates/", {"range": RANGE, "measure": measure})
    assert answer.status_code == 200
    return answer.json()


def line(drawn: dict[str, Any], name: str) -> list[float | None]:
    (values,) = [trace["y"] for trace in drawn["data"] if trace["name"] == name]
    return list(values)


def hatched(drawn: dict[str, Any]) -> list[str]:
    return list(drawn["data"][-1]["customdata"])


def test_each_member_has_a_line_and_gaps_say_why(admin_client: Client, group: ConsumerGroup, tmp_path: Path) -> None:
    a_member(group, "c1", since=3600)
    report(tmp_path, *({"minutes": n, "client_id": "c1", "consume_ok_tps": float(n)} for n in (5, 4, 2, 1)))
    drawn = figure(admin_client)
    assert line(drawn, "c1") == [5.0, 4.0, None, 2.0, 1.0]
    assert hatched(drawn) == ["the member did not report in this window"]


def test_a_member_that_was_not_there_yet_leaves_a_gap_without_a_hatch(
    admin_client: Client, group: ConsumerGroup, tmp_path: Path
) -> None:
    a_member(group, "c1", since=3600)
    a_member(group, "c2", since=120)
    rows = [{"minutes": n, "client_id": "c1", "consume_ok_tps": 1.0} for n in (5, 4, 3, 2, 1)]
    report(tmp_path, *rows, *({"minutes": n, "client_id": "c2", "consume_ok_tps": 2.0} for n in (2, 1)))
    drawn = figure(admin_client)
    assert line(drawn, "c2") == [None, None, None, 2.0, 2.0]
    assert hatched(drawn) == []


def test_the_newest_windows_without_an_answer_are_no_gap(
    admin_client: Client, group: ConsumerGroup, tmp_path: Path
) -> None:
    a_member(group, "c1", since=3600)
    report(tmp_path, *({"minutes": n, "client_id": "c1", "consume_ok_tps": 1.0} for n in (5, 4, 3, 2)))
    assert line(figure(admin_client), "c1") == [1.0, 1.0, 1.0, 1.0]


def test_of_many_members_those_with_the_highest_values_are_drawn(
    admin_client: Client, group: ConsumerGroup, tmp_path: Path
) -> None:
    for number in range(10):
        a_member(group, f"c{number}", since=3600)
    report(
        tmp_path, *({"minutes": 3, "client_id": f"c{number}", "consume_ok_tps": float(number)} for number in range(10))
    )
    drawn = figure(admin_client)
    assert [trace["name"] for trace in drawn["data"][:-1]] == [f"c{number}" for number in range(2, 10)]
    notes = [note["text"] for note in drawn["layout"]["annotations"]]
    assert "8 of 10 members: those with the highest values" in notes


def test_a_group_whose_members_were_never_asked_for_is_unknown(admin_client: Client, group: ConsumerGroup) -> None:
    ConsumerGroup.objects.update(membership_at=None)
    assert hatched(figure(admin_client)) == ["the group's members have not been asked yet"]


def test_a_group_without_members_is_not_hatched(admin_client: Client, group: ConsumerGroup) -> None:
    drawn = figure(admin_client)
    assert hatched(drawn) == []
    assert "no member was listed in this range" in {note["text"] for note in drawn["layout"]["annotations"]}


@pytest.mark.parametrize(
    ("measure", "title"), [("pull_rt_ms", "milliseconds"), ("cached_messages", "messages"), ("cached_mib", "MiB")]
)
def test_each_measure_has_its_unit(admin_client: Client, group: ConsumerGroup, measure: str, title: str) -> None:
    assert figure(admin_client, measure)["layout"]["yaxis"]["title"]["text"] == title


def test_a_measure_that_there_is_not_is_refused(admin_client: Client, group: ConsumerGroup) -> None:
    for path in ("/figures/prod/billing/member-rates/", "/groups/prod/billing/ownership/"):
        assert admin_client.get(path, {"measure": "speed"}).status_code == 400


def test_the_tab_leads_to_the_chart_of_each_measure(admin_client: Client, group: ConsumerGroup) -> None:
    text = admin_client.get("/groups/prod/billing/ownership/?measure=consume_rt_ms").text
    assert 'data-figure="/figures/prod/billing/member-rates/?measure=consume_rt_ms&amp;range=1h"' in text
    assert '<a href="?measure=pull_tps#member-rates">Pull TPS</a>' in text
    assert "Consume RT of members in the last 1 h" in text
