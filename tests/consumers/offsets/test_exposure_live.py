"""What is said of a crash, against crashes: real consumers are killed, and count what comes again."""

import asyncio
import time

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Assignment, Cluster
from consumers.offsets.stores import group_offsets
from consumers.polling.file_poller import FileLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.samples.reading import SampleBudget
from consumers.queries.groups import find_group
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.stores.exposure import NUMBERS
from tests.plugins.counting_consumers import CountingConsumers

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

# Less than a client holds of a queue (its span of offsets may be 2,000), and more than it consumes in a minute.
QUEUES, MESSAGES = 2, 1900
# Commits come at 10 s, then at this interval; between two of them there is time for a look and a kill.
COMMIT_MILLISECONDS, AFTER_COMMIT_SECONDS = 10_000, 1.0
FAST = (0.0, 0.0)


def crowd(prefix):
    """Three groups in one client: many threads, few threads, and in order."""
    shared = {"instance": f"{prefix}-client", "hold_messages": 5000, "commit_milliseconds": COMMIT_MILLISECONDS}
    return [
        {"group": f"{prefix}-many", "topic": f"{prefix}Many", "threads": 8, "seconds": (0.1, 0.2), **shared},
        {"group": f"{prefix}-few", "topic": f"{prefix}Few", "threads": 4, "seconds": (0.0, 0.2), **shared},
        {
            "group": f"{prefix}-row",
            "topic": f"{prefix}Row",
            "orderly": True,
            "threads": 2,
            "seconds": (0.02, 0.04),
            **shared,
        },
    ]


@pytest.fixture
def watch(rocketmq_pair, tmp_path, settings):
    """Polls once more; gives what is known of the queues of the groups, by group and queue id."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    file = rocketmq_pair.brokers["broker-a"].store / "config" / "consumerOffset.json"
    cluster = Cluster.objects.create(
        name="crash", namesrv=rocketmq_pair.namesrv, created_at=timezone.now(), offset_files=f"broker-a={file}"
    )
    lake, every_time = Lake.at(settings.CONSUMERSCOPE_LAKE), FileLimits(folders=("/",), seconds=0)
    asks = {"samples": SampleBudget(0, 0, 0), "files": every_time}
    poller = ClusterPoller(cluster, PollSettings(Cadence(600, 600), Budget(1000, 100), 5.0, lake, 0, **asks))

    def watch(consumers, *kills):
        poller.poll(timezone.now())
        for kill in kills:
            kill()
        return {
            (one["group"], row.queue_id): row
            for one in consumers
            if (group := find_group("crash", one["group"])) is not None
            for row in group_offsets(group, now=timezone.now()).rows
            if row.topic == one["topic"]
        }

    yield watch
    poller.close()


def fill(admin, consumers):
    for one in consumers:
        admin.create_topic(one["topic"], QUEUES, broker="broker-a")
        for queue_id in range(QUEUES):
            admin.send(one["topic"], "broker-a", queue_id, MESSAGES)


def committed(rows):
    return {place: row.stores[0].offset for place, row in rows.items()}


def all_held(consumers):
    """Every client holds the last message of every queue, so that it has nothing left to pull."""
    held = Assignment.objects.filter(queue__topic__name__in=[one["topic"] for one in consumers], gone_by=None)
    return list(held.values_list("cached_max", flat=True)) == [MESSAGES - 1] * QUEUES * len(consumers)


def all_known(rows):
    return all(getattr(row.exposure, name) is not None for row in rows.values() for name in NUMBERS)


def broker_memory(address, consumers):
    """What the broker holds at this moment, asked of it alone: a whole poll takes longer."""

    async def ask():
        async with ConnectionPool() as pool:
            return await BrokerAdmin(pool, address).consumer_offsets()

    groups = {one["group"] for one in consumers}
    rows = asyncio.run(ask()).to_pylist()
    return {(row["topic"], row["queue_id"]): row["consumer_offset"] for row in rows if row["group"] in groups}


def eventually(look, why):
    deadline = time.monotonic() + 360
    while not look():
        assert time.monotonic() < deadline, why
        time.sleep(0.3)


def crash(watch, address, consumers, running, *kills):
    """What was said of every queue right before the kills."""
    eventually(lambda: watch(consumers) and all_held(consumers), "the clients do not hold everything")
    running.pull_no_more()
    eventually(lambda: all_known(watch(consumers)), "nothing was committed, or written down")
    before = broker_memory(address, consumers)
    eventually(lambda: broker_memory(address, consumers) != before, "no commit was seen")
    time.sleep(AFTER_COMMIT_SECONDS)
    return watch(consumers, running.kill, *kills)


def again(first, second, topic, queue_id):
    return sum((topic, queue_id, offset) in second for t, q, offset in first if (t, q) == (topic, queue_id))


def consume_the_rest(namesrv, jars, folder, consumers):
    fast = [one | {"seconds": FAST} for one in consumers]
    with CountingConsumers(namesrv, jars, folder, fast) as running:
        ends = {(one["topic"], queue_id, MESSAGES - 1) for one in consumers for queue_id in range(QUEUES)}
        eventually(lambda: ends <= running.consumed().keys(), "the second consumers did not come to the end")
        time.sleep(1)
        return running.consumed()


def compare(name, consumers, rows, first, second, low, high):
    """Prints bounds and counts; returns the counts."""
    print(f"\n{name}\n{'group':<16}{'queue':>6}{'committed':>11}{'low':>6}{'again':>7}{'high':>6}{'out of order':>14}")
    topics = {one["group"]: one["topic"] for one in consumers}
    counts, outside = [], []
    for (group, queue_id), row in sorted(rows.items()):
        least, most = getattr(row.exposure, low), getattr(row.exposure, high)
        count = again(first, second, topics[group], queue_id)
        numbers = f"{row.stores[0].offset:>11}{least:>6}{count:>7}{most:>6}{row.exposure.finished_out_of_order:>14}"
        print(f"{group:<16}{queue_id:>6}{numbers}")
        counts.append(count)
        if not least <= count <= most:
            outside.append((group, queue_id, least, count, most))
    assert outside == []
    return counts


def test_a_killed_consumer_repeats_what_was_said(watch, rocketmq_pair, rocketmq_jars, java_admin_pair, tmp_path):
    consumers = crowd("crash")
    fill(java_admin_pair, consumers)
    address = rocketmq_pair.brokers["broker-a"].address
    with CountingConsumers(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "first", consumers) as running:
        rows = crash(watch, address, consumers, running)
        first = running.consumed()
    assert committed(watch(consumers)) == committed(rows), "a commit came between the look and the kill"
    second = consume_the_rest(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "second", consumers)
    assert sum(compare("the consumer was killed", consumers, rows, first, second, "low", "high")) > 0


def test_a_broker_killed_with_its_consumer_goes_on_from_its_file(
    watch, rocketmq_pair, rocketmq_jars, java_admin_pair, tmp_path
):
    consumers = crowd("both")
    fill(java_admin_pair, consumers)
    address = rocketmq_pair.brokers["broker-a"].address
    with CountingConsumers(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "first", consumers) as running:
        rows = crash(watch, address, consumers, running, lambda: rocketmq_pair.kill_broker("broker-a"))
        first = running.consumed()
    rocketmq_pair.start_broker("broker-a")
    second = consume_the_rest(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "second", consumers)
    assert sum(compare("both were killed", consumers, rows, first, second, "both_die_low", "both_die_high")) > 0
