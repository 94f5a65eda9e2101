"""What was recorded of answers is what is told of their moments: of any history, at each of its readings."""

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.ownership.assignments import assignments
from consumers.ownership.timeline import timeline
from consumers.polling.record.recorder import Recorder
from consumers.queries.groups import find_group
from tests.readings import T0, at, broker, client, group_members, members, owned, reading, row

pytestmark = pytest.mark.django_db
EVERY = 15
QUEUES = range(3)
# Of each client in each reading: not listed, silent, or the queues that it says it holds.
ANSWERS = st.one_of(st.none(), st.just("silent"), st.sets(st.sampled_from(QUEUES)))
HISTORIES = st.lists(st.fixed_dictionaries({"a": ANSWERS, "b": ANSWERS, "c": ANSWERS}), min_size=2, max_size=6)


def record(history, folder):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(folder))
    part = broker("broker-a", *(row("billing", "Orders", queue, 7, 10) for queue in QUEUES))
    for number, answers in enumerate(history):
        listed = [client_id for client_id, answer in answers.items() if answer is not None]
        clients = [_said(client_id, answers[client_id]) for client_id in listed]
        seconds = number * EVERY
        groups = [group_members("billing", *listed)]
        recorder.record(reading(seconds, part), members(seconds, groups, clients), lake)


def _said(client_id, answer):
    if answer == "silent":
        return client("billing", client_id, error="timed out")
    subscription = {"topic": "Orders", "expression": "*", "expression_type": "TAG"}
    queues = [owned("Orders", "broker-a", queue) for queue in sorted(answer)]
    return client("billing", client_id, *queues, subscriptions=(subscription,), started_at=at(-60))


def told(moment):
    """The owners of each queue, those without left out."""
    rows = assignments(find_group("prod", "billing"), now=at(3600), at=moment)
    owners = {queue: {row.owner for row in rows if row.queue_id == queue and row.owner} for queue in QUEUES}
    assert all(row.unknown["owner"] for row in rows if row.owner is None)
    return owners


def said(answers, queue):
    return {client_id for client_id, answer in answers.items() if isinstance(answer, set) and queue in answer}


def is_silent(answers, client_id):
    return answers[client_id] == "silent"


# Each example records a whole history.
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORIES)
def test_at_each_reading_only_what_was_said_is_told(tmp_path_factory, history):
    Cluster.objects.all().delete()
    record(history, tmp_path_factory.mktemp("lake"))
    for number, answers in enumerate(history):
        for queue, owners in told(at(number * EVERY)).items():
            spoken = said(answers, queue)
            # One that was silent then, and said so before and after, owns it as well.
            assert all(owner in spoken or is_silent(answers, owner) for owner in owners)
            if len(spoken) == 1:
                assert owners >= spoken or any(is_silent(answers, other) for other in answers)
    for queue, number in unowned(len(history)):
        assert not said(history[number], queue)
        assert not any(is_silent(history[number], client_id) and never_spoke(history, client_id) for client_id in "abc")


def unowned(readings):
    """Each queue with the number of each reading at which the picture says that nobody held it."""
    end = (readings - 1) * EVERY
    with time_machine.travel(at(end), tick=False):
        picture = timeline("prod", "billing", since=at(0), until=at(end), cells=end)
    for queue in picture.queues:
        cell = 0
        for run in queue.runs:
            if run.holding == "nobody":
                yield from ((queue.queue_id, n) for n in range(readings) if cell <= n * EVERY < cell + run.cells)
            cell += run.cells


def never_spoke(history, client_id):
    return not any(isinstance(answers[client_id], set) for answers in history)
