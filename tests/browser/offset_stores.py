"""What clients and files say of the shop's groups: stores that agree, that are apart, that are silent or wrong."""

import json

from consumers.models import Client, Cluster, ConsumerGroup, Queue
from tests.store_rows import a_client, a_file_row, a_problem, an_offset_file, an_owner
from tests.world import a_group, a_queue, a_snapshot, a_total, ago

END = 1_250_000
FILE = "/store/config/consumerOffset.json"
WENT_BACK = {
    "code": "went_back.reset",
    "where": "Stock@inventory, queue 2",
    "params": {"offset": 1_240_000, "before": 1_249_988, "messages": 9_988},
}


def seed_stores() -> None:
    """As of `tests.world.NOW`, after the shop was seeded."""
    cluster = Cluster.objects.get(name="prod-a")
    cluster.offset_files = f"broker-a={FILE};/clients/*/.rocketmq_offsets/*/*/offsets.json"
    cluster.save()
    _inventory(cluster.groups.get(name="inventory"))
    _prices(cluster)
    _pops(cluster.groups.get(name="checkout"))


def _inventory(group: ConsumerGroup) -> None:
    """The shop's blocked group: one queue hangs behind 112 held messages, one file row went back."""
    Client.objects.filter(group=group).update(running_info_at=ago(5))
    queues = [a_queue(group.cluster, "Stock", number) for number in range(4)]
    at = [END, END, END - 12, END - 9_120]
    held = [None, (END, END + 3, 4), (END - 4, END - 1, 3), (END - 9_120, END - 9_009, 1)]
    for queue, offset, span in zip(queues, at, held, strict=True):
        _hold(group, queue, offset, span)
    retry = a_queue(group.cluster, "%RETRY%inventory", kind="retry")
    a_snapshot(group, retry, None, 310, min_offset=12, unknown_reason="never_committed")
    rows = [(0, END - 40, None), (1, END, None), (2, 1_240_000, json.dumps([WENT_BACK])), (3, END - 9_120, None)]
    found = [a_file_row("Stock", n, offset, group="inventory", finding=finding) for n, offset, finding in rows]
    an_offset_file(group.cluster, *found, path=FILE, findings=[WENT_BACK])


def _hold(group: ConsumerGroup, queue: Queue, offset: int, span: tuple[int, int, int] | None) -> None:
    owner = group.assignments.get(queue=queue)
    client_id = owner.client_id
    owner.delete()
    an_owner(group, queue, span, commit=span[0] if span else offset, client_id=client_id)


def _prices(cluster: Cluster) -> None:
    """A broadcasting group: one client with its file, one whose file cannot be read, one that is gone."""
    group = a_group(cluster, "price-board", message_model="BROADCASTING")
    a_total(group, 4_000)
    for client, behind in (("10.0.0.21@DEFAULT", 12), ("10.0.0.22@DEFAULT", 4_000)):
        a_client(group, client)
        for number in range(2):
            queue = a_queue(cluster, "Prices", number)
            an_owner(group, queue, commit=END - behind, client_id=client)
            a_snapshot(group, queue, END - 4_000, END) if behind == 12 else None
    folder, kind = "/clients/board/.rocketmq_offsets", {"kind": "consumer_file", "group_name": "price-board"}
    own = [a_file_row("Prices", n, END - 30, group="price-board", client_id="10.0.0.21@DEFAULT") for n in range(2)]
    names = {
        client: f"{folder}/{client}/price-board/offsets.json" for client in ("10.0.0.21@DEFAULT", "10.0.0.22@DEFAULT")
    }
    (one, path), (two, other) = names.items()
    an_offset_file(cluster, *own, path=path, client_id=one, **kind)
    an_offset_file(
        cluster, path=other, client_id=two, read_at=None, error=a_problem("the poll worker may not read it"), **kind
    )


def _pops(group: ConsumerGroup) -> None:
    popped = {"topic": "Orders", "broker": "broker-a", "queue_id": -1, "wait_ack_count": 1_204, "last_pop_at": None}
    Client.objects.filter(group=group).update(pop_queues=[popped])
