from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, GroupWindow, PipelineRun, StateChange
from consumers.retries.volumes import VOLUMES
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
URL = "/figures/prod/billing/"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def group() -> ConsumerGroup:
    """An hour of minutes that were judged up to half a minute ago, of ten messages each; the sixth last is unknown."""
    group = a_group(a_cluster())
    PipelineRun.objects.create(since=ago(3600), until=ago(30), started_at=ago(30), finished_at=ago(28))
    for number in range(1, 60):
        known = number != 6
        GroupWindow.objects.create(
            group=group, step_seconds=60, start=NOW - (number + 1) * MINUTE, readings=4,
            **dict.fromkeys(VOLUMES, 10 if known else None),
            volumes_unknown={} if known else dict.fromkeys(VOLUMES, "broker-b was silent"),
        )  # fmt: skip
    return group


def traces(client: Client, figure: str, query: str = "") -> dict[str, Any]:
    drawn = client.get(f"{URL}{figure}/{query}").json()
    return {trace["name"]: trace for trace in drawn["data"]}


def test_volumes_are_drawn_from_what_is_consumed_up_to_what_died(admin_client: Client, group: ConsumerGroup) -> None:
    found = traces(admin_client, "volumes")
    assert list(found) == ["consumed", "into retry", "into DLQ", "unknown"]
    assert found["into retry"]["y"][-5:] == [10] * 5


def test_a_window_that_is_not_known_is_hatched(admin_client: Client, group: ConsumerGroup) -> None:
    found = traces(admin_client, "volumes")
    assert found["consumed"]["y"].count(None) == 1
    assert found["unknown"]["x"] == ["2026-03-14 02:53:30"]
    assert found["unknown"]["customdata"] == ["broker-b was silent"]


def test_dead_letters_are_drawn_alone(admin_client: Client, group: ConsumerGroup) -> None:
    found = traces(admin_client, "dead-letters")
    assert list(found) == ["into DLQ", "unknown"]


def test_that_the_newest_minute_is_not_judged_yet_is_no_news(admin_client: Client, group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=ago(90))
    GroupWindow.objects.filter(start__gte=NOW - 2 * MINUTE).delete()
    assert traces(admin_client, "dead-letters")["unknown"]["x"] == ["2026-03-14 02:53:30"]


def test_that_a_minute_which_was_judged_is_unknown_is_news_at_once(admin_client: Client, group: ConsumerGroup) -> None:
    reasons = dict.fromkeys(VOLUMES, "broker-a is silent")
    GroupWindow.objects.filter(start=NOW - 2 * MINUTE).update(**dict.fromkeys(VOLUMES), volumes_unknown=reasons)
    hatched = traces(admin_client, "dead-letters")["unknown"]
    assert (hatched["x"][-1], hatched["customdata"][-1]) == ("2026-03-14 02:58:30", "broker-a is silent")


def test_that_nothing_was_judged_for_long_is_hatched(admin_client: Client, group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=ago(600))
    GroupWindow.objects.filter(start__gte=ago(600)).delete()
    hatched = traces(admin_client, "dead-letters")["unknown"]
    assert (hatched["customdata"], hatched["width"]) == (["not aggregated yet"], [8 * 60_000])


def test_changes_of_state_are_marked(admin_client: Client, group: ConsumerGroup) -> None:
    StateChange.objects.create(group=group, at=ago(600), before="OK", after="STALL", rule="blocked")
    drawn = admin_client.get(f"{URL}volumes/").json()
    assert [mark["text"] for mark in drawn["layout"]["annotations"]] == ["STALL"]


def test_they_share_the_axis_of_the_page_s_range(admin_client: Client, group: ConsumerGroup) -> None:
    figures = [admin_client.get(f"{URL}{name}/?range=6h").json()["layout"] for name in ("volumes", "dead-letters")]
    assert (
        figures[0]["xaxis"]["range"] == figures[1]["xaxis"]["range"] == ["2026-03-13 21:00:00", "2026-03-14 03:00:00"]
    )


@pytest.mark.parametrize("figure", ["volumes", "dead-letters"])
def test_a_figure_is_of_a_group_that_was_read_and_of_a_range_that_there_is(
    admin_client: Client, group: ConsumerGroup, figure: str
) -> None:
    assert admin_client.get(f"/figures/prod/nobody/{figure}/").status_code == 404
    assert admin_client.get(f"{URL}{figure}/?range=2h").status_code == 400
    assert Client().get(f"{URL}{figure}/").status_code == 302
