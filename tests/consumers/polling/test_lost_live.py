"""Real brokers that are killed and lose the file of their consumer offsets."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from consumers.alerts.evaluation.run import evaluate
from consumers.groups.detail import group_queues
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, GroupTotal, Incident, QueueSnapshot, Reset, ResetKind, State
from consumers.overview.queries import overview
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.resets.acts import apply
from consumers.resets.applying.run import run
from consumers.resets.planning.run import run_plan
from consumers.resets.request import request_plan
from consumers.resets.target_values import Asker, ResetRequest
from consumers.vocabulary.states import UnknownReason
from dashboard.demo.cluster import RocketMQ
from tests.alert_rows import the_default_rule
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, QUEUES, SENT, STOOD = "LostLive", 4, 10, 4
OFFLINE, ONLINE, BROADCAST = "lost_offline", "lost_online", "lost_broadcast"


@pytest.fixture(scope="module")
def pair(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    """`lost_offline` stands at 4 of 10 in every queue; `lost_online` has consumed everything, and has a member."""
    folder = tmp_path_factory.mktemp("lost")
    with RocketMQ(folder, rocketmq_jars, brokers=2) as cluster, JavaAdmin(cluster, rocketmq_jars) as admin:
        admin.create_topic(TOPIC, QUEUES)
        for group in (OFFLINE, ONLINE, BROADCAST):
            admin.create_group(group)
        for broker in cluster.brokers:
            for queue_id in range(QUEUES):
                admin.send(TOPIC, broker, queue_id, SENT)
                admin.set_offset(OFFLINE, TOPIC, broker, queue_id, STOOD)
                admin.set_offset(ONLINE, TOPIC, broker, queue_id, STOOD)
        admin.start_consumer(ONLINE, TOPIC, "online")
        admin.start_consumer(BROADCAST, TOPIC, "broadcast", broadcasting=True)
        wait(lambda: all(is_stored(cluster, broker) for broker in cluster.brokers), 480)
        yield cluster


@pytest.fixture
def poller(pair: RocketMQ, tmp_path: Path, settings: Any) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.RESET_SETTLED_SECONDS = 2
    cluster = Cluster.objects.create(name="pair", namesrv=pair.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0))
    yield poller
    poller.close()


def wait(seen: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def files(cluster: RocketMQ, broker: str) -> tuple[Path, Path]:
    """The file that a broker writes its offsets to, and the one before it."""
    folder = cluster.brokers[broker].store / "config"
    return folder / "consumerOffset.json", folder / "consumerOffset.json.bak"


def is_stored(cluster: RocketMQ, broker: str) -> bool:
    """Whether both files have what the groups stand at."""
    wanted = {OFFLINE: STOOD, ONLINE: SENT}
    for file in files(cluster, broker):
        if not file.exists():
            return False
        # fastjson writes numbers as keys.
        text = file.read_text().replace("\t", "").replace("\n", "")
        for group, offset in wanted.items():
            stands = ",".join(f"{queue_id}:{offset}" for queue_id in range(QUEUES))
            if f'"{TOPIC}@{group}":{{{stands}}}' not in text:
                return False
    return True


def restart(cluster: RocketMQ, broker: str, *deleted: Path) -> None:
    cluster.kill_broker(broker)
    for file in deleted:
        file.unlink()
    cluster.start_broker(broker)


def snapshots(group: str) -> dict[tuple[str, int], tuple[int | None, int | None, str | None]]:
    rows = QueueSnapshot.objects.filter(group__name=group, queue__topic__name=TOPIC)
    names = ("queue__broker", "queue__queue_id", "consumer_offset", "lost_offset", "unknown_reason")
    return {(broker, queue_id): tuple(said) for broker, queue_id, *said in rows.values_list(*names)}


def poll(poller: ClusterPoller) -> None:
    """Again and again until both brokers answer: one that was killed is left alone for a while."""
    wait(lambda: poller.poll(timezone.now()).offsets.complete, 360)


def everywhere(consumer: int | None, lost: int | None, why: str | None, brokers: str = "ab") -> dict[Any, Any]:
    return {(f"broker-{name}", queue_id): (consumer, lost, why) for name in brokers for queue_id in range(QUEUES)}


def shown(group: str) -> Any:
    return next(row for row in group_list(GroupFilters(), now=timezone.now()).rows if row.group == group)


def lose_offsets(poller: ClusterPoller, cluster: RocketMQ) -> list[dict[Any, Any]]:
    """What the queues of `lost_online` said at each reading, until its member has committed again what it holds."""
    wait(lambda: is_stored(cluster, "broker-a"), 240)
    restart(cluster, "broker-a", *files(cluster, "broker-a"))
    seen_online = []
    deadline = time.monotonic() + 480
    while True:
        poller.poll(timezone.now())
        seen_online.append(snapshots(ONLINE))
        if shown(OFFLINE).lost_queues and not shown(ONLINE).lost_queues and shown(ONLINE).lag_messages == 0:
            return seen_online
        assert time.monotonic() < deadline, (seen_online[-1], snapshots(OFFLINE))
        time.sleep(1)


def assert_the_loss_is_shown(behind: int) -> None:
    row = shown(OFFLINE)
    assert (row.state, row.lost_queues, row.lag_messages) == (State.LOSS, QUEUES, None)
    assert row.lag_messages_at_least == behind // 2
    queues = group_queues(ConsumerGroup.objects.get(name=OFFLINE), now=timezone.now())
    assert {queue.broker_offset for queue in queues} == {SENT}
    assert {(queue.broker, queue.state) for queue in queues if queue.rule_code == "offset_lost"} == {
        ("broker-a", "LOSS")
    }
    now = timezone.now()
    [loss] = overview(since=now, until=now, now=now).losses
    assert (loss.broker, loss.queues, list(loss.groups.values())) == ("broker-a", QUEUES, [OFFLINE])
    evaluate(now, timezone.now)
    incident = Incident.objects.get(measure="lost_queues")
    assert (incident.subject_key, incident.severity, incident.status) == ("broker:pair/broker-a", "critical", "firing")
    assert (incident.value, incident.group_names) == (QUEUES, [["pair", OFFLINE]])
    print(json.dumps({"state": row.state_detail, "queue": queues[0].state_detail, "incident": incident.evidence}))


def reset_to_before_the_loss() -> None:
    lost_at = (
        QueueSnapshot.objects.filter(unknown_reason=UnknownReason.OFFSET_LOST).values_list("lost_at", flat=True).first()
    )
    assert lost_at is not None
    user = User.objects.create_user("ann")
    user.groups.add(Group.objects.get_or_create(name="operator")[0])
    user.is_superuser = True
    user.save()
    wish = ResetRequest(ResetKind.MOMENT, lost_at.isoformat(), "Committed offsets were lost.", brokers=("broker-a",))
    reset = request_plan("pair", OFFLINE, wish, Asker(user, None, "rest"), timezone.now())
    run_plan(reset.pk, timezone.now)
    reset.refresh_from_db()
    assert reset.status == "planned", reset.error
    apply(reset, Asker(user, None, "rest"), OFFLINE, timezone.now())
    run(reset.pk, timezone.now, time.sleep)
    reset = Reset.objects.get(pk=reset.pk)
    assert reset.status == "applied", list(
        reset.queues_of_it.values_list("queue_id", "step", "outcome", "error", "left_out")
    )


def test_a_broker_that_loses_its_offsets_is_told_of_queue_by_queue_and_its_groups_are_brought_back(
    poller: ClusterPoller, pair: RocketMQ
) -> None:
    the_default_rule("offsets_lost")
    stood = everywhere(STOOD, None, None)
    poll(poller)
    poll(poller)
    assert (snapshots(OFFLINE), snapshots(ONLINE)) == (stood, everywhere(SENT, None, None))
    behind = 2 * QUEUES * (SENT - STOOD)
    assert (shown(OFFLINE).lag_messages, shown(OFFLINE).lost_queues) == (behind, 0)

    # The file alone is no loss: a broker reads the one before it.
    restart(pair, "broker-a", files(pair, "broker-a")[0])
    poll(poller)
    assert snapshots(OFFLINE) == stood
    assert not QueueSnapshot.objects.filter(unknown_reason=UnknownReason.OFFSET_LOST).exists()

    seen_online = lose_offsets(poller, pair)
    lost = everywhere(None, STOOD, UnknownReason.OFFSET_LOST, "a") | everywhere(STOOD, None, None, "b")
    assert snapshots(OFFLINE) == lost
    # The member commits again what it holds: never forgotten, never "never committed", never less than before.
    assert {said for seen in seen_online for said in seen.values()} <= {
        (SENT, None, None),
        (None, SENT, UnknownReason.OFFSET_LOST),
    }
    assert {len(seen) for seen in seen_online} == {2 * QUEUES}
    assert not QueueSnapshot.objects.filter(group__name=BROADCAST, unknown_reason=UnknownReason.OFFSET_LOST).exists()
    for _ in range(2):
        poll(poller)
        assert snapshots(OFFLINE) == lost
    assert_the_loss_is_shown(behind)
    reset_to_before_the_loss()
    poll(poller)
    assert snapshots(OFFLINE) == stood
    total = GroupTotal.objects.get(group__name=OFFLINE)
    assert (total.lag_messages, total.lost_queues, total.unknown_reason) == (behind, 0, None)
