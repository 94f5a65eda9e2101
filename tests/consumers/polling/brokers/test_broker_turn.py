"""Masters, slaves, busy and broken brokers, in readings at given times."""

import asyncio
import contextlib

import pytest

from consumers.polling.brokers.broker_turn import collect_offsets
from consumers.polling.memory import Cadence, ClusterMemory, Patience
from consumers.rocketmq.wire.codes import BULK_OFFSETS_VERSION, RequestCode
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.words.reasons import stored_words
from tests.consumers.polling.fake_broker import VERSION_4_9_7, FakeBroker
from tests.consumers.rocketmq.fake_server import served, silence
from tests.readings import at

OFFSETS, STATS = RequestCode.GET_ALL_CONSUMER_OFFSET, RequestCode.GET_CONSUME_STATS
NOBODY = "127.0.0.1:1"
BUSY = {OFFSETS: 2}


def read(*seconds, master=None, slave=None, deadline_seconds=20.0, before=None):
    """The reading at each second. Without a master its address is one where nobody listens."""

    async def main():
        memory = ClusterMemory(patience=Patience(failures=2, open_seconds=30, busy_seconds=20))
        async with contextlib.AsyncExitStack() as stack:
            at_master = await stack.enter_async_context(served(master)) if master else NOBODY
            lists = {0: at_master}
            if slave:
                lists[1] = await stack.enter_async_context(served(slave))
            name_server = await stack.enter_async_context(served(FakeBroker(lists=lists)))
            pool = await stack.enter_async_context(ConnectionPool())
            readings = []
            for number, second in enumerate(seconds):
                if before:
                    before(number)
                reading = await collect_offsets(
                    pool, "prod", [name_server], memory, Cadence(0, 0), at(second), deadline_seconds
                )
                readings.append(reading)
            return readings

    return asyncio.run(main())


def part_of(reading):
    (part,) = reading.brokers
    return part


def test_a_master_that_answers_is_read_and_its_slave_is_not_asked():
    slave = FakeBroker()
    part = part_of(*read(0, master=FakeBroker(), slave=slave))
    assert (part.read, part.read_from, sum(slave.asked.values())) == (True, None, 0)


def test_a_slave_is_read_in_the_place_of_a_master_that_does_not_answer_and_says_so():
    reading = read(0, slave=FakeBroker(offset=5))[0]
    part, slave = part_of(reading), reading.listed[1].address
    assert (part.read, part.address, part.read_from, part.answered_by) == (True, NOBODY, slave, slave)
    assert "cannot connect" in part.master_error
    assert part.rows["consumer_offset"].to_pylist() == [5]


def test_a_broker_s_cost_holds_that_of_its_slave():
    alone, replaced = part_of(*read(0, slave=FakeBroker())), part_of(*read(0, master=FakeBroker()))
    assert (alone.cost.calls, replaced.cost.calls) == (7, 7)
    assert alone.cost.bytes == replaced.cost.bytes > 0
    assert alone.cost.seconds > 0


def test_where_neither_answers_the_reason_is_the_masters():
    part = part_of(*read(0, slave=silence, deadline_seconds=1.0))
    assert (part.read, part.read_from, part.rows) == (False, None, None)
    assert part.error.startswith(f"{NOBODY}: cannot connect")


def test_a_master_that_is_back_is_read_again():
    master = FakeBroker(refuses={OFFSETS: 14})
    readings = read(0, 15, master=master, slave=FakeBroker(offset=5), before=lambda n: n and master.refuses.clear())
    assert [part_of(reading).read_from is None for reading in readings] == [False, True]


def test_a_broker_that_failed_twice_is_not_asked_until_the_period_is_over():
    parts = [part_of(reading) for reading in read(0, 15, 30, 44, 45)]
    assert ["not asked again until" in stored_words(part.error) for part in parts] == [False, True, True, True, True]
    assert "02:00:45" in parts[3].error
    assert "02:01:15" in parts[4].error


def test_a_probe_that_is_answered_is_followed_by_the_whole_reading_at_once():
    master = FakeBroker()

    def silent_at_first(number):
        master.silent = number < 2

    parts = [part_of(r) for r in read(0, 15, 45, master=master, before=silent_at_first, deadline_seconds=1.0)]
    assert [part.read for part in parts] == [False, False, True]
    # As the probe, then beside the consumer offsets.
    assert master.asked[RequestCode.GET_ALL_DELAY_OFFSET] == 1 + 1


@pytest.mark.parametrize(
    ("unlisted", "read_at_last"), [(range(1, 3), True), (range(0), False)], ids=["listed anew", "listed all the time"]
)
def test_a_broker_that_name_servers_list_anew_is_asked_before_its_pause_is_over(unlisted, read_at_last):
    master = FakeBroker()

    async def main():
        memory = ClusterMemory(patience=Patience(failures=2, open_seconds=30))
        async with served(master) as address, ConnectionPool() as pool:
            lists = FakeBroker(lists={0: address})
            async with served(lists) as name_server:
                found = []
                for number, second in enumerate((0, 15, 30, 35)):
                    master.silent = 0 < number < 3
                    lists.lists = {} if number in unlisted else {0: address}
                    reading = collect_offsets(pool, "prod", [name_server], memory, Cadence(0, 0), at(second), 0.2)
                    found.append(await reading)
                return found

    parts = [part_of(reading) for reading in asyncio.run(main())]
    assert [part.read for part in parts] == [True, False, False, read_at_last]


def test_a_busy_broker_is_unknown_with_that_reason_and_left_alone():
    master = FakeBroker(refuses=dict(BUSY))
    parts = [part_of(reading) for reading in read(0, 9, 21, master=master)]
    assert master.asked[OFFSETS] == 2
    for part in parts:
        assert (part.read, part.rows) == (False, None)
        assert "SYSTEM_BUSY" in part.error
        assert "not asked again until" in stored_words(part.error)


def test_a_broker_that_is_no_longer_busy_is_read_after_its_pause():
    master = FakeBroker(refuses=dict(BUSY))
    parts = [part_of(r) for r in read(0, 21, master=master, before=lambda n: n and master.refuses.clear())]
    assert [part.read for part in parts] == [False, True]


def test_a_slave_is_read_while_its_master_is_busy():
    part = part_of(*read(0, master=FakeBroker(refuses=dict(BUSY)), slave=FakeBroker()))
    assert (part.read, "SYSTEM_BUSY" in part.master_error) == (True, True)


@pytest.mark.parametrize(
    ("version", "calls"), [(VERSION_4_9_7, 2), (BULK_OFFSETS_VERSION - 1, 2), (BULK_OFFSETS_VERSION, 1)]
)
def test_an_older_broker_is_asked_topic_by_topic(version, calls):
    master = FakeBroker(version=version)
    master.topics = ("Orders", "Payments")
    part = part_of(*read(0, master=master))
    assert (part.read, master.asked[STATS]) == (True, calls)
    assert part.rows["broker_offset"].to_pylist() == [10, 10]


def test_a_name_server_that_is_silent_costs_its_share_of_the_deadline_once():
    silent_calls = 0

    async def silent(reader, writer):
        nonlocal silent_calls
        silent_calls += 1
        await silence(reader, writer)

    async def main():
        memory = ClusterMemory()
        async with served(silent) as dead, served(FakeBroker(lists={0: NOBODY})) as alive, ConnectionPool() as pool:
            for second in (0, 15, 30):
                await collect_offsets(pool, "prod", [dead, alive], memory, Cadence(0, 0), at(second), 0.4)
            return memory.name_server == alive

    assert (asyncio.run(main()), silent_calls) == (True, 1)


def test_queues_of_a_broker_that_has_another_name_now_are_counted_once():
    broker = FakeBroker()

    async def main():
        memory = ClusterMemory()
        async with served(broker) as address, ConnectionPool() as pool:
            lists = FakeBroker(lists={0: address})
            async with served(lists) as name_server:
                found = []
                for second, name in ((0, "broker-a"), (15, "broker-b")):
                    broker.name = lists.name = name
                    found.append(
                        await collect_offsets(pool, "prod", [name_server], memory, Cadence(0, 0), at(second), 20)
                    )
                return found

    before, after = asyncio.run(main())
    assert [(part.name, part.read) for part in before.brokers] == [("broker-a", True)]
    assert [(part.name, part.read) for part in after.brokers] == [("broker-a", False), ("broker-b", True)]
    assert (before.queues, after.queues) == (1, 1)
