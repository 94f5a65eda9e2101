"""However time is cut into runs, the rebalances are the same: tried on what happens to groups at random."""

import itertools
import random
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from consumers.lake.schemas import TABLES
from consumers.models import Client, ConsumerGroup, Rebalance
from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.find import find_events, undecided_groups
from consumers.pipeline.rebalances.run import ChangedGroups
from consumers.pipeline.rebalances.tables import GROUPS as GROUP_COLUMNS
from consumers.vocabulary.times import EPOCH
from tests.pipeline_rows import at, us
from tests.rebalance_histories import NOT_ASKED, Seen, clients, group_row, membership, ownership
from tests.world import a_cluster, a_group, a_queue

pytestmark = pytest.mark.django_db

DURATIONS = Durations(rebalance_longest_seconds=240, rebalance_lookback_seconds=300)
GROUPS, READINGS, EVERY = 10, 70, 15
END = READINGS * EVERY
KEPT = (
    "started_after_us",
    "last_change_us",
    "settled_us",
    "end_us",
    "episode_us",
    "polls",
    "rollout",
    "cause",
    "evidence",
    "client_ids_before",
    "client_ids_after",
    "dated_us",
)


def a_history(chance):
    """Members come and go, hang, take queues late, are asked now and then; brokers fall silent, polls are missed."""
    holds, names, found = {"a": "0123"}, iter("bcdefghijklmnopqrstuvwxyz" * 9), []
    restless = chance.random() * 0.3
    for number in range(READINGS):
        if chance.random() < 0.05:
            continue
        if number > 3 and chance.random() < restless:
            if len(holds) > 1 and chance.random() < 0.5:
                del holds[chance.choice(sorted(holds))]
            else:
                holds[next(names)] = ""
        if chance.random() < 0.7:
            order = sorted(holds)
            holds = {name: "0123"[place :: len(order)] for place, name in enumerate(order)}
        is_asked = chance.random() < 0.8
        said = {
            name: (None if chance.random() < 0.04 else held) if is_asked else NOT_ASKED for name, held in holds.items()
        }
        is_complete = chance.random() < 0.95
        # A member that only the silent broker lists is not seen then.
        seen = said if is_complete else {name: held for name, held in said.items() if chance.random() < 0.8}
        found.append(Seen(number * EVERY, seen, complete=is_complete))
    return found


def put_rows(histories):
    cluster = a_cluster(read_at=None)
    for number in range(4):
        a_queue(cluster, "Orders", number)
    cluster.topics.get().queues.update(readable=True)
    for name, history in histories.items():
        subscribed = [{"topic": "Orders"}]
        group = a_group(cluster, name, members_changed_at=at(END), subscriptions=subscribed, first_seen_at=at(-9))
        Client.objects.bulk_create(a_row(group, one) for one in clients(history))


def a_row(group, one):
    moments = {
        "started_at": one["started_us"],
        "seen_since": one["seen_us"],
        "last_seen": one["last_seen_us"],
        "gone_by": one.get("gone_us"),
        "running_info_at": one.get("answered_us"),
    }
    names = {name: one[name] for name in ("client_id", "address")}
    return Client(group=group, **names, **{key: moment(us) for key, us in moments.items()})


def moment(us):
    return None if us is None else EPOCH + timedelta(microseconds=us)


class Runs:
    def __init__(self, histories):
        self.rows = {
            table: pa.Table.from_pylist(
                [row for name, history in histories.items() for row in rows(name, history)], TABLES[table]
            )
            for table, rows in (("membership", membership), ("ownership", ownership))
        }
        self.found = {}

    def run(self, since, until):
        changed = ChangedGroups.of(["prod"], at(since), at(until), DURATIONS)
        within = (pc.field("taken_at") >= changed.reach) & (pc.field("taken_at") < at(until))
        lake = {table: rows.filter(within) for table, rows in self.rows.items()}
        events, _ = find_events(changed.rows, **lake, durations=DURATIONS)
        for event in events.to_pylist():
            self.found[event["group"], event["started_before_us"]] = {name: event[name] for name in KEPT}
            self.store(event)

    def store(self, event):
        names = ("started_after", "last_change", "settled", "episode")
        moments = {name: moment(event[f"{name}_us"]) for name in names}
        values = {
            "started_after": moments["started_after"],
            "last_change_at": moments["last_change"],
            "settled_at": moments["settled"],
            "episode_since": moments["episode"],
            "polls": event["polls"],
            "cause": event["cause"],
            "judged_at": at(END),
        }
        group = ConsumerGroup.objects.get(name=event["group"])
        Rebalance.objects.update_or_create(
            group=group, started_before=moment(event["started_before_us"]), defaults=values
        )


@pytest.mark.parametrize("seed", range(7, 12))
def test_it_finds_the_same_in_one_run_and_in_several(seed):
    chance = random.Random(seed)
    histories = {f"group-{number}": a_history(chance) for number in range(GROUPS)}
    put_rows(histories)
    whole = Runs(histories)
    whole.run(0, END)
    Rebalance.objects.all().delete()

    parts = Runs(histories)
    cuts = [0, *sorted(chance.sample(range(1, END), 2)), END]
    for since, until in itertools.pairwise(cuts):
        # As runs follow each other: each begins a little before the one before it ended.
        parts.run(max(since - 2 * EVERY, 0), until)

    assert len(whole.found) > GROUPS
    assert {event["settled_us"] is None for event in whole.found.values()} == {True, False}
    assert parts.found == whole.found


@pytest.mark.parametrize("seed", range(20, 24))
def test_the_newest_rows_find_the_same_where_they_are_said_to_suffice(seed):
    chance = random.Random(seed)
    histories = {f"group-{number}": a_history(chance) for number in range(40)}
    rows = [group_row(name, history, since=END / 2, lookback=300) for name, history in histories.items()]
    groups, lake = pa.Table.from_pylist(rows, GROUP_COLUMNS), Runs(histories).rows
    start = END / 2 - DURATIONS.rebalance_patience_seconds - EVERY
    newest = {name: table.filter(pc.field("taken_at") >= at(start)) for name, table in lake.items()}

    undecided = set(undecided_groups(groups, **newest, from_us=us(start), durations=DURATIONS)["group"].to_pylist())

    decided = groups.filter(pa.array([name not in undecided for name in groups["group"].to_pylist()]))
    assert undecided
    assert decided.num_rows > 3
    of_newest, of_all = (
        [table.to_pylist() for table in find_events(decided, **tables, durations=DURATIONS)]
        for tables in (newest, lake)
    )
    assert of_newest == of_all
    assert len(of_all[0]) > 3
