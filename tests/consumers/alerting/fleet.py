"""The groups of the fleet, the rules over them, and what the site says of both."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboard.demo.cluster import RocketMQ
from tests.consumers.alerting.live_site import LiveSite
from tests.plugins.counting_consumers import CountingConsumers

# Some thirty messages a second: a group is behind a few seconds after its member stops.
EACH = 8
GROUPS = ("alerting-stalls", "alerting-dies", "alerting-flaps")
STALLS, DIES, FLAPS = GROUPS
BEHIND, RECOVERED = 100, 60
# Without Redis no broker is read either, for as long as it takes to start again on a machine with other work.
BROKER_SILENT_SECONDS = 20
RULES: list[dict[str, Any]] = [
    {"name": "Behind", "group_pattern": "alerting-*", "measure": "lag_messages", "comparison": "above",
     "threshold": BEHIND, "clear_threshold": RECOVERED, "for_seconds": 1, "clear_seconds": 20, "severity": "critical"},
    {"name": "Nobody there", "group_pattern": "alerting-*", "measure": "members", "comparison": "below",
     "threshold": 1, "for_seconds": 1, "clear_seconds": 3, "severity": "warning"},
    {"name": "Broker silent", "measure": "broker_unread_seconds", "comparison": "above",
     "threshold": BROKER_SILENT_SECONDS, "for_seconds": 0, "clear_seconds": 3, "severity": "critical"},
]  # fmt: skip


def topic_of(group: str) -> str:
    return group.title().replace("-", "")


def at_work(site: LiveSite, group: str) -> bool:
    found = site.ask("GET", f"groups/?search={group}")["results"]
    return [(row["members"], row["lag_messages"] is not None) for row in found] == [(1, True)]


def is_behind(site: LiveSite, group: str) -> bool | None:
    """None between behind and recovered, and where it is not known."""
    [row] = site.ask("GET", f"groups/?search={group}")["results"]
    lag = row["lag_messages"]
    return None if lag is None or RECOVERED < lag <= BEHIND else lag > BEHIND


def firing(site: LiveSite) -> set[tuple[str, str]]:
    """Rules, with what they fire for."""
    rows = [row for row in site.incidents() if row["status"] == "firing"]
    return {(row["rule_name"], row["subject"]["group"] or row["subject"]["broker"]) for row in rows}


def start(rocketmq: RocketMQ, jars: Path, folder: Path, group: str) -> CountingConsumers:
    member = {"group": group, "topic": topic_of(group), "instance": group, "commit_milliseconds": 1000, "threads": 4}
    return CountingConsumers(rocketmq.namesrv, jars, folder / group, [{**member, "seconds": [0.0, 0.001]}])


def until(true: Callable[[], bool], seconds: float = 480) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        # What is asked is a whole answer of the site, which works on the same processors.
        time.sleep(0.5)
