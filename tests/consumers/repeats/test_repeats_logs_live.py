"""What real clients and brokers write into their logs raises the confidence of causes that offsets alone suggest."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.logs.follow import FollowRules, follow_cluster
from consumers.models import Cluster
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import POLL_SECONDS, polled_site
from tests.consumers.repeats.night import NightGroup
from tests.consumers.repeats.scripted import (
    COMMIT_SECONDS,
    FIRST_COMMIT_SECONDS,
    Night,
    noting_processes,
    owners,
    told,
)
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(1500),
]

STAYING, DYING = "staying", "dying"
SLOW = (0.05, 0.1)
THREW = NightGroup("logs_threw", 2, 75, behaviour={"throws_every": 10})
KILLED = NightGroup("logs_killed", 4, 500, seconds=SLOW)
LEFT = NightGroup("logs_left", 4, 500, "broker-b", seconds=SLOW)
ELSEWHERE = NightGroup("logs_reset", 4, 150)
GROUPS = (THREW, KILLED, LEFT, ELSEWHERE)


@pytest.fixture
def played(
    rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin, rocketmq_jars: Path, api: Client, tmp_path: Path, settings: Any
) -> Iterator[Night]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    for group in GROUPS:
        java_admin_pair.create_topic(group.topic, group.queues, broker=group.broker)
        java_admin_pair.create_group(group.group)
    with (
        noting_processes(rocketmq_pair.namesrv, rocketmq_jars, tmp_path, (STAYING, DYING)) as started,
        polled_site(rocketmq_pair, java_admin_pair, api, tmp_path / "lake", list(rocketmq_pair.brokers)) as site,
    ):
        yield Night(site, java_admin_pair, started, STAYING)


def play(played: Night) -> None:
    """A listener throws, a member is killed and another one leaves under load, and mqadmin resets a group."""
    for group in GROUPS:
        played.start(DYING if group is KILLED else STAYING, group, 1)
    for group in (KILLED, LEFT):
        played.start(STAYING, group, 2)
    played.until(lambda: all(owners(one) for one in GROUPS), "a group has no owner")
    played.until(lambda: all(len(owners(one)) == 2 for one in (KILLED, LEFT)), "members do not share the queues")
    played.rest(FIRST_COMMIT_SECONDS)
    played.send(ELSEWHERE)
    played.until(lambda: played.is_committed(ELSEWHERE), "not everything was committed")
    played.until_minute()
    played.send(THREW, LEFT, KILLED)
    played.admin.reset_by_time(ELSEWHERE.group, ELSEWHERE.topic, 0)
    played.rest(2 * POLL_SECONDS)
    played.processes[DYING].kill()
    played.leave(LEFT)
    played.until(lambda: played.are_redelivered(THREW), "what failed does not come again")
    played.until(lambda: played.is_committed(*GROUPS), "not everything was committed again")
    played.until_minute()
    played.rest(COMMIT_SECONDS)


def causes(group: NightGroup) -> list[tuple[str, str]]:
    return [(one.cause, one.confidence) for one in told(group)]


def test_lines_of_real_logs_raise_what_offsets_suggest(
    played: Night,
    rocketmq_pair: RocketMQ,
    tmp_path: Path,
    evaluated: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    play(played)
    evaluated(played.first, played.last)
    before = {one.name: causes(one) for one in GROUPS}

    logs = {
        "client_logs": f"{tmp_path}/*/rocketmq_client.log",
        "broker_logs": ";".join(str(one.place.folder / "broker.log") for one in rocketmq_pair.brokers.values()),
    }
    Cluster.objects.filter(pk=played.site.registered.pk).update(**logs)
    follow_cluster(Cluster.objects.get(pk=played.site.registered.pk), timezone.now(), FollowRules.of_site())
    evaluated(played.first, played.last)
    after = {one.name: causes(one) for one in GROUPS}
    with capsys.disabled():
        again = {one.night.name: one.true for one in played.lines(GROUPS)}
        print("".join(f"\n{name}: {again[name]} redelivered, {before[name]} -> {after[name]}" for name in before))

    assert before[THREW.name] == [("wrong_ack", "likely")]
    assert after[THREW.name] == [("wrong_ack", "proven")]
    assert before[ELSEWHERE.name] == [("reset_elsewhere", "likely")]
    assert after[ELSEWHERE.name] == [("reset_elsewhere", "proven")]
    # Under load no gap may be seen: the broker's line tells whether the member said goodbye.
    assert after[KILLED.name] in ([("consumer_crash", "likely")], [("consumer_crash", "proven")])
    assert {cause for cause, _ in after[LEFT.name]} <= {"shutdown_did_not_wait"}
    assert {confidence for _, confidence in after[LEFT.name]} <= {"possible"}
