"""A fleet that stalls, recovers, dies and flaps: each incident is opened and closed once, in order, whatever is killed.

ALERT_RECEIVER_DOWN_SECONDS: how long the receiver of messages is away (a minute, where there is time for it).
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.consumers.alerting.fleet import DIES, FLAPS, GROUPS, STALLS, firing, is_behind, start, until
from tests.consumers.alerting.live_site import LiveSite
from tests.consumers.alerting.receiver import Receiver, name_of
from tests.plugins.counting_consumers import CountingConsumers

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

DOWN_SECONDS = float(os.environ.get("ALERT_RECEIVER_DOWN_SECONDS", "15"))


def stalls_while_workers_die(site: LiveSite, receiver: Receiver, member: CountingConsumers) -> None:
    member.freeze()
    until(lambda: any(row["subject"]["group"] == STALLS for row in site.incidents()))
    site.kill("alerts")
    receiver.wait_for("Behind", STALLS, "firing")
    site.kill("alerts")
    member.thaw()
    receiver.wait_for("Behind", STALLS, "resolved")


def everything_breaks_at_once(
    site: LiveSite, cluster: RocketMQ, members: dict[str, CountingConsumers], again: Callable[[], CountingConsumers]
) -> None:
    """One dies, one flaps, a broker and Redis are killed. What fires when a broker is lost stays until it is back."""
    members[DIES].kill()
    members[FLAPS].freeze()
    until(lambda: firing(site) == {("Behind", DIES), ("Nobody there", DIES), ("Behind", FLAPS)})
    cluster.kill_broker("broker-b")
    site.kill("redis")
    until(lambda: ("Broker silent", "broker-b") in firing(site))
    assert len(firing(site)) == 4
    flapping = incidents_of(site, "Behind", FLAPS)
    members[DIES] = again()
    cluster.start_broker("broker-b")
    for _ in range(2):
        members[FLAPS].thaw()
        until(lambda: is_behind(site, FLAPS) is False)
        members[FLAPS].freeze()
        until(lambda: is_behind(site, FLAPS) is True)
    assert ("Behind", FLAPS) in firing(site)
    assert incidents_of(site, "Behind", FLAPS) == flapping
    members[FLAPS].thaw()
    until(lambda: not firing(site))


def incidents_of(site: LiveSite, rule: str, subject: str) -> list[str]:
    """Ids of those that fired."""
    rows = [row for row in site.incidents() if row["fired_at"] is not None]
    return [row["id"] for row in rows if (row["rule_name"], name_of(row["subject"])) == (rule, subject)]


def test_each_incident_is_told_once_when_it_opens_and_once_when_it_is_over(
    rocketmq_pair: RocketMQ,
    rocketmq_jars: Path,
    members: dict[str, CountingConsumers],
    site: LiveSite,
    receiver: Receiver,
    tmp_path: Path,
) -> None:
    stalls_while_workers_die(site, receiver, members[STALLS])
    receiver.down()
    away = time.monotonic() + DOWN_SECONDS
    again = partial(start, rocketmq_pair, rocketmq_jars, tmp_path / "again", DIES)
    everything_breaks_at_once(site, rocketmq_pair, members, again)
    time.sleep(max(0.0, away - time.monotonic()))
    receiver.up()

    incidents = [("Behind", STALLS), ("Behind", DIES), ("Nobody there", DIES), ("Behind", FLAPS)]
    incidents.append(("Broker silent", "broker-b"))
    for one in incidents:
        receiver.wait_for(*one, "resolved", DOWN_SECONDS + 120)
    ended = {row["id"] for row in site.incidents() if row["status"] == "resolved"}
    until(lambda: all("resolved" in receiver.told_of_each().get(key, ()) for key in ended))
    each = receiver.told_of_each()
    assert [each[key] for key in ended] == [["firing", "resolved"]] * len(ended)
    told = receiver.changes()
    # A broker that goes or comes changes what members subscribe to. Where a member's heartbeat meets another one just
    # then (RocketMQ 5.4.0, MQClientInstance) it sends none for half a minute, brokers refuse to serve it
    # (PullMessageProcessor), and its group is behind once more.
    besides = Counter(told) - Counter((*one, kind) for one in incidents for kind in ("firing", "resolved"))
    assert {rule for rule, _, _ in besides} <= {"Behind"}, told
    numbers = [message["number"] for message in receiver.messages()]
    assert numbers == sorted(numbers), receiver.messages()
    assert receiver.forged == 0
    brokers = [row for row in site.incidents() if row["subject"]["broker"]]
    assert len(brokers) == 1, brokers
    [broker] = brokers
    # The cluster may have groups of other tests.
    assert broker["groups_count"] >= len(GROUPS)
    repeated = len(receiver.on_the_wire()) - len(numbers)
    print(f"{len(told)} changes in {len(numbers)} messages, {repeated} of them repeated under their own id")
