"""A worker in a process and with a database of its own, for a test to kill in the middle of an offset reset.

`prepare NAMESRV BROKERS GROUP TOPIC` plans a reset of all its queues to the earliest, lets it be applied and prints its
id, `work ID SECONDS` runs it with a clock that is so far ahead, `resume ID SECONDS` lets it go on and runs it.
"""

import json
import sys
import time
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import django


def prepare(namesrv: str, brokers: str, name: str, topic: str) -> str:
    """`brokers`: {name: address}."""
    from django.core.management import call_command
    from django.utils import timezone

    from consumers.models import Broker, Cluster, ConsumerGroup, Reset, ResetKind, Topic
    from consumers.resets.acts import apply
    from consumers.resets.planning.run import run_plan
    from consumers.resets.request import request_plan
    from consumers.resets.target_values import ResetRequest

    call_command("migrate", verbosity=0)
    now = timezone.now()
    cluster = Cluster.objects.create(name="live", namesrv=namesrv, created_at=now)
    for broker, address in json.loads(brokers).items():
        Broker.objects.create(cluster=cluster, name=broker, broker_id=0, address=address, last_read_at=now)
    ConsumerGroup.objects.create(cluster=cluster, name=name, kind="user", first_seen_at=now)
    Topic.objects.create(cluster=cluster, name=topic, kind="normal", first_seen_at=now)
    wish = ResetRequest(ResetKind.EARLIEST, None, "a test", topics=(topic,))
    reset = request_plan("live", name, wish, asker(), now)
    run_plan(reset.pk, timezone.now)
    reset = Reset.objects.get(pk=reset.pk)
    apply(reset, asker(), name, timezone.now())
    return str(reset.pk)


def asker() -> Any:
    from django.contrib.auth.models import Group, User

    from consumers.resets.target_values import Asker

    user, _ = User.objects.get_or_create(username="ann")
    user.groups.add(Group.objects.get(name="operator"))
    return Asker(user, None, "rest")


def work(reset_id: str, ahead: str) -> str:
    from django.utils import timezone

    from consumers.resets.applying.run import run

    def clock() -> datetime:
        return timezone.now() + timedelta(seconds=float(ahead))

    run(UUID(reset_id), clock, time.sleep)
    return "ended"


def resume(reset_id: str, ahead: str) -> str:
    from django.utils import timezone

    from consumers.models import Reset
    from consumers.resets.acts import resume

    reset = Reset.objects.get(pk=reset_id)
    resume(reset, asker(), reset.group_name, timezone.now() + timedelta(seconds=float(ahead)))
    return work(reset_id, ahead)


if __name__ == "__main__":
    django.setup()
    act = {"prepare": prepare, "work": work, "resume": resume}[sys.argv[1]]
    print(json.dumps(act(*sys.argv[2:])))
