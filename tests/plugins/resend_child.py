"""A worker in a process and with a database of its own, for a test to kill in the middle of a re-send.

`prepare NAMESRV BROKER GROUP` plans and starts one of all its dead letters and prints its id, `work ID SECONDS` runs it
with a clock that is so far ahead, `report ID` prints what became of it.
"""

import json
import sys
import time
from datetime import timedelta
from uuid import UUID

import django


def prepare(namesrv: str, address: str, name: str) -> str:
    from django.contrib.auth.models import Group, User
    from django.core.management import call_command
    from django.utils import timezone

    from consumers.dead_letters.filters import DeadLetterFilters
    from consumers.dead_letters.index import IndexLimits, index_groups
    from consumers.dead_letters.resend.plan import ResendRequest, Selection, plan
    from consumers.dead_letters.resend.preview import start
    from consumers.models import Broker, Cluster, ConsumerGroup, Destination, Queue, Topic

    call_command("migrate", verbosity=0)
    now = timezone.now()
    cluster = Cluster.objects.create(name="live", namesrv=namesrv, created_at=now)
    Broker.objects.create(cluster=cluster, name="broker-a", broker_id=0, address=address, last_read_at=now)
    group = ConsumerGroup.objects.create(cluster=cluster, name=name, kind="user", first_seen_at=now)
    for kind in ("RETRY", "DLQ"):
        topic = Topic.objects.create(cluster=cluster, name=f"%{kind}%{name}", kind=kind.lower(), first_seen_at=now)
        Queue.objects.create(topic=topic, broker="broker-a", queue_id=0, readable=True, writable=True)
    index_groups(cluster, group, IndexLimits.of_site(), now)
    everything = Selection(filters=DeadLetterFilters())
    wish = ResendRequest(everything, Destination.GROUP, "a test", rate_per_second=500)
    ann = User.objects.create_user("ann")
    ann.groups.add(Group.objects.get(name="operator"))
    resend = plan(group, wish, ann, now)
    start(resend, ann, name, now)
    return str(resend.pk)


def work(resend_id: str, ahead: str) -> str:
    from django.utils import timezone

    from consumers.dead_letters.resend.run import run

    run(UUID(resend_id), lambda: timezone.now() + timedelta(seconds=float(ahead)), time.sleep)
    return "ended"


def report(resend_id: str) -> dict[str, object]:
    from consumers.models import Resend

    resend = Resend.objects.get(pk=resend_id)
    items = [[item.pk, item.outcome, item.target_offset] for item in resend.items.order_by("pk")]
    return {"status": resend.status, "error": resend.error, "items": items}


if __name__ == "__main__":
    django.setup()
    act = {"prepare": prepare, "work": work, "report": report}[sys.argv[1]]
    print(json.dumps(act(*sys.argv[2:])))
