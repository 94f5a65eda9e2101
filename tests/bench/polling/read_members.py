"""Run as `python -m tests.bench.polling.read_members GROUPS MEMBERS ADDRESS…`: readings of members, as a poll makes
them, with a database of its own that knows them all.

Prints one line of JSON per reading, with the time of the same calls on bare sockets.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import django

from consumers.rocketmq.wire.codes import RequestCode
from tests.bench.polling.members_broker import BASE_MS, client_address, client_id, group_name
from tests.bench.polling.members_floor import Call, bare_seconds

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
NOW = datetime(2026, 3, 8, 12, 30, tzinfo=UTC)
READINGS = 5
MEMBERS_SECONDS = 60.0


def main(groups: int, members: int, addresses: list[str]) -> None:
    from django.core.management import call_command

    from consumers.models import Cluster
    from consumers.polling.members.collected import rotation

    call_command("migrate", verbosity=0)
    cluster = Cluster.objects.create(name="bench", namesrv="127.0.0.1:1", created_at=NOW)
    _fill(cluster.pk, groups, members, len(addresses))
    for _ in range(READINGS):
        before = held_mib()
        began = time.perf_counter()
        known = rotation(cluster, [])
        planned = time.perf_counter() - began
        spent = asyncio.run(_read(known, addresses))
        print(json.dumps({**spent, "rows_seconds": planned, "memory_mib": most_held_mib() - before}), flush=True)


async def _read(known: object, addresses: Sequence[str]) -> dict[str, float]:
    from consumers.polling.members.collected import Rotation, collect_members
    from consumers.polling.members.membership import AT_ONCE, AskedBroker, Budget, Silences, Turn
    from consumers.polling.poll import PollSettings
    from consumers.rocketmq.wire.connection import ConnectionPool

    assert isinstance(known, Rotation)
    site = PollSettings.of_site().budget
    # No time ends the rounds: what all of it takes is what is measured.
    budget = Budget(site.membership_calls, site.running_info_calls, MEMBERS_SECONDS, MEMBERS_SECONDS)
    brokers = [AskedBroker(f"broker-{number}", address) for number, address in enumerate(addresses)]
    cpu = time.process_time()
    async with ConnectionPool() as pool:
        reading = await collect_members(Turn(pool, budget, NOW, 5.0), "bench", brokers, None, known, Silences())
    cpu = time.process_time() - cpu
    asked = [(client.group, client.client_id) for client in reading.clients]
    if any(not answer.complete for answer in reading.groups) or any(client.error for client in reading.clients):
        raise SystemExit("A broker or a client did not answer: the times say nothing.")
    sweep: list[Call] = [
        (RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": answer.group}) for answer in reading.groups
    ]
    clients: list[Call] = [
        (
            RequestCode.GET_CONSUMER_RUNNING_INFO,
            {"consumerGroup": group, "clientId": client, "jstackEnable": "false"},
        )
        for group, client in asked
    ]
    return {
        **reading.summary,
        "cpu_seconds": cpu,
        "members": sum(len(answer.members) for answer in reading.groups),
        "bare_sweep_seconds": await bare_seconds(addresses, [sweep] * len(addresses), AT_ONCE),
        "bare_running_info_seconds": await bare_seconds(addresses[:1], [clients], AT_ONCE),
    }


def _fill(cluster: int, groups: int, members: int, brokers: int) -> None:
    """Rows of groups that have settled, with the members that the brokers list."""
    from consumers.models import Client, ConsumerGroup

    sub_version = datetime.fromtimestamp(BASE_MS / 1000, UTC)
    settled = {"sub_version": sub_version, "settled_at": NOW, "membership_at": NOW}
    made = ConsumerGroup.objects.bulk_create(
        ConsumerGroup(cluster_id=cluster, name=group_name(number), kind="user", first_seen_at=NOW, **settled)
        for number in range(groups)
    )
    times = {"seen_since": NOW, "last_seen": NOW, "running_info_at": NOW}
    Client.objects.bulk_create(
        (
            Client(
                group=group,
                client_id=client_id(number, member),
                address=client_address(number, member, 0),
                language="JAVA",
                connections={f"broker-{b}": [client_address(number, member, b)] for b in range(brokers)},
                **times,
            )
            for number, group in enumerate(made)
            for member in range(members)
        ),
        batch_size=1000,
    )


def held_mib() -> float:
    """What this process holds; from here on the most that it holds is counted anew (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def most_held_mib() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    django.setup()
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
