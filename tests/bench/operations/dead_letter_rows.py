"""Run as `python -m tests.bench.operations.dead_letter_rows NAMESRV ADDRESS`: makes the site's database, with rows of
the dead letters of both groups. Prints, as a line of JSON, a token and a session of a user that may see everything."""

import json
import os
import sys
from datetime import UTC, datetime

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
GROUPS = ("few", "many")
TOKEN = "a-token-of-the-bench"


def main(namesrv: str, address: str) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from consumers.models import ApiToken
    from consumers.models.site import token_digest

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    user = User.objects.create(username="bench", is_superuser=True)
    ApiToken.objects.create(user=user, name="bench", digest=token_digest(TOKEN), created_at=now)
    client = Client()
    client.force_login(user)
    _index(namesrv, address, now)
    print(json.dumps({"token": TOKEN, "session": client.cookies["sessionid"].value}), flush=True)


def _index(namesrv: str, address: str, now: datetime) -> None:
    from consumers.dead_letters.index import IndexLimits, index_groups
    from consumers.jobs.hold import close_wires
    from consumers.models import Broker, Cluster, ConsumerGroup

    cluster = Cluster.objects.create(name="bench", namesrv=namesrv, created_at=now)
    Broker.objects.create(cluster=cluster, name="broker-a", broker_id=0, address=address, last_read_at=now)
    for name in GROUPS:
        group = ConsumerGroup.objects.create(cluster=cluster, name=name, kind="user", first_seen_at=now)
        if index_groups(cluster, group, IndexLimits(calls=100_000), now).waiting:
            raise SystemExit("Not all dead letters were listed: the times say nothing.")
    close_wires()


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1], sys.argv[2])
