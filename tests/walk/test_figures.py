"""Every figure's JSON: an unknown window is a null and a hatch, never a point at zero."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.page_urls import urlpatterns
from tests.walk.addresses import PROD_BILLING, addresses
from tests.walk.losses import NO_REBALANCE

PATHS = [path for path in addresses(urlpatterns, leave_out=frozenset()) if path.startswith("/figures/")]
OWNERS = "/figures/prod/billing/ownership/"
LADDER = "/figures/prod/billing/ladder/"
VOLUMES = ("/figures/prod/billing/volumes/", "/figures/prod/billing/dead-letters/")
MEASURED = ("/figures/prod/billing/rates/", "/figures/prod/billing/time-lag/", "/figures/fleet-rates/")
RATES = "/figures/prod/billing/member-rates/"
# Of a topic with queues on a broker that is not read, in every world.
OF_TOPIC = ("/figures/topics/prod/Orders/rates/", "/figures/topics/prod/Orders/time-lag/")
# Worlds whose members have not said what they hold.
MEMBERS_UNKNOWN = {"not_sampled", "silent_members", "members_not_asked", "never_read_group", "never_read_cluster"}
# Worlds whose second half hour is known of nothing.
NO_HISTORY = {"no_pipeline", "never_read_group", "never_read_cluster"}


def values(figure: dict[str, Any]) -> Iterator[float | None]:
    """Of lines and cells: the hatch is drawn beside them, from 0 to 1 of an axis of its own."""
    for trace in figure["data"]:
        if "runs" in trace:
            yield from (value for row in trace["runs"] for _cells, value, _text in row)
        elif trace["type"] == "heatmap":
            yield from (cell for row in trace["z"] for cell in row)
        elif trace.get("connectgaps") is False:
            yield from trace["y"]
        elif trace["type"] == "bar" and not is_hatch(trace):
            yield from trace["x" if trace.get("orientation") == "h" else "y"]


def is_hatch(trace: dict[str, Any]) -> bool:
    return trace["type"] == "bar" and "pattern" in trace["marker"]


def hatches(figure: dict[str, Any]) -> list[str]:
    """The reasons of what is hatched."""
    bars = [reason for trace in figure["data"] if is_hatch(trace) for reason in trace["customdata"]]
    return bars + [trace["name"] for trace in figure["data"] if str(trace.get("name")).startswith("unknown: ")]


@pytest.mark.parametrize("path", PATHS)
def test_no_figure_draws_what_was_not_read(world: str, path: str) -> None:
    client = Client()
    client.force_login(User.objects.create(username="ada"))
    answer = client.get(path)
    if PROD_BILLING["at"] in path and world in NO_REBALANCE:
        assert answer.status_code == 404
        return
    figure = answer.json()
    drawn = list(values(figure))
    assert 0 not in drawn
    if set(drawn) <= {None}:
        assert not [mark["text"] for mark in figure["layout"]["annotations"] if mark["text"].startswith("0 to")]
    if None in drawn:
        assert hatches(figure)
        assert all(hatches(figure))
    if path == OWNERS:
        assert _is_said_by_members(world, figure, drawn)
    elif path == RATES:
        # Of members, whatever is known of offsets.
        assert {type(value) for value in drawn} in ({float, type(None)}, {type(None)})
        assert any("broker-b could not be read" in reason for reason in hatches(figure)) == (float in map(type, drawn))
    elif path == LADDER:
        # Of all levels of all brokers, or of none.
        assert {type(value) for value in drawn} <= {int, type(None)}
        assert len(drawn) in (0, 36)
    elif path in OF_TOPIC or (path in VOLUMES and world == "retries_unread"):
        assert set(drawn) <= {None}
    elif world not in NO_HISTORY:
        assert {type(value) for value in drawn} == {float if path in MEASURED else int, type(None)}
        assert any("broker-b could not be read" in reason for reason in hatches(figure))


def _is_said_by_members(world: str, figure: dict[str, Any], drawn: list[float | None]) -> bool:
    """That a queue has no owner, or another one than before, is drawn where the members said so alone."""
    texts = [text for row in figure["data"][0]["runs"] for _cells, _value, text in row]
    assert all(texts)
    assert None in drawn or not drawn
    if world in MEMBERS_UNKNOWN:
        return set(drawn) <= {None} and not [trace for trace in figure["data"] if trace.get("mode") == "markers"]
    return {type(value) for value in drawn} == {int, type(None)}
