"""Members of groups and the queues they hold, as intervals with the bounds that polling can give."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from consumers.models import Client, Cluster, ConsumerGroup
from consumers.polling.members.client_settings import outside_store
from consumers.polling.reading import ClientReading, GroupMembers, MembersReading

from .assignments import record_assignments
from .ids import BATCH, EntityIds
from .stamps import stamp

SPOKEN_FIELDS = (
    "strategy",
    "orderly",
    "started_at",
    "subscriptions",
    "settings",
    "pop_queues",
    "running_info_at",
    "running_info_error",
)
GROUP_FIELDS = (
    "online",
    "members",
    "message_model",
    "consume_type",
    "consume_from_where",
    "subscriptions",
    "membership_error",
    "offline_since",
)


def record_members(cluster: Cluster, ids: EntityIds, reading: MembersReading) -> None:
    answers = {answer.group: answer for answer in reading.groups if answer.group in ids.groups}
    with transaction.atomic():
        _record_groups(cluster, answers, reading.taken_at)
        _record_clients(ids, list(answers.values()), reading.taken_at)
        _record_running_info(cluster, reading.clients, reading.taken_at)
    with transaction.atomic():
        record_assignments(ids, reading)


def _record_groups(cluster: Cluster, answers: dict[str, GroupMembers], now: datetime) -> None:
    differing, complete = [], []
    for group in cluster.groups.filter(name__in=list(answers)):
        answer = answers[group.name]
        before = [getattr(group, name) for name in GROUP_FIELDS]
        group.membership_error = answer.error
        # One answering broker proves that a group is online; only all of them prove that it is not.
        group.online = True if answer.members else False if answer.complete else None
        group.members = len(answer.members) if answer.complete else None
        if answer.members:
            group.message_model = answer.message_model
            group.consume_type = answer.consume_type
            group.consume_from_where = answer.consume_from_where
            group.subscriptions = list(answer.subscriptions)
            group.offline_since = None
        elif answer.complete:
            group.offline_since = group.offline_since or now
        if before != [getattr(group, name) for name in GROUP_FIELDS]:
            differing.append(group)
        if answer.complete:
            complete.append(group.pk)
    ConsumerGroup.objects.bulk_update(differing, GROUP_FIELDS, batch_size=BATCH // 10)
    stamp(ConsumerGroup.objects.all(), complete, membership_at=now)


def _record_clients(ids: EntityIds, answers: list[GroupMembers], now: datetime) -> None:
    # Those of the groups that were asked, and of no others: a cluster may have a hundred thousand members.
    asked = [ids.groups[answer.group] for answer in answers]
    present = {
        (client.group_id, client.client_id): client for client in Client.objects.filter(group__in=asked, gone_by=None)
    }
    seen, made = [], []
    for answer in answers:
        group = ids.groups[answer.group]
        for member in answer.members:
            client = present.pop((group, member.client_id), None)
            if client is None or client.address != member.address:
                # The same id from another port is another connection: the old interval ends where this one begins.
                if client is not None:
                    Client.objects.filter(pk=client.pk).update(gone_by=now)
                made.append(
                    Client(
                        group_id=group,
                        client_id=member.client_id,
                        address=member.address,
                        language=member.language,
                        version=member.version,
                        seen_since=now,
                        last_seen=now,
                    )
                )
            else:
                seen.append(client.pk)
    Client.objects.bulk_create(made, batch_size=BATCH)
    stamp(Client.objects.all(), seen, last_seen=now)
    answered = {ids.groups[answer.group] for answer in answers if answer.complete}
    gone = [client.pk for (group, _), client in present.items() if group in answered]
    stamp(Client.objects.all(), gone, gone_by=now)


def _record_running_info(cluster: Cluster, readings: Iterable[ClientReading], now: datetime) -> None:
    by_key = {(reading.group, reading.client_id): reading for reading in readings}
    if not by_key:
        return
    rows, spoken = [], set()
    spoke = {group for group, _ in by_key}
    present = Client.objects.filter(group__cluster=cluster, group__name__in=spoke, gone_by=None)
    for client in present.select_related("group"):
        reading = by_key.get((client.group.name, client.client_id))
        if reading is None:
            continue
        client.running_info_error = reading.error
        if reading.error is None:
            client.running_info_at = now
            client.strategy, client.orderly = reading.strategy, reading.orderly
            client.started_at = reading.started_at
            client.subscriptions = list(reading.subscriptions) if reading.subscriptions is not None else None
            client.settings = reading.settings
            client.pop_queues = list(reading.pop_queues) if reading.pop_queues is not None else None
            spoken.add(client.group_id)
        rows.append(client)
    Client.objects.bulk_update(rows, SPOKEN_FIELDS, batch_size=BATCH // 10)
    _record_outside_stores(spoken)


def _record_outside_stores(spoken: set[int]) -> None:
    """Of the groups whose members spoke: what any present member has ever said of its offset store counts."""
    named: dict[int, set[str]] = {pk: set() for pk in spoken}
    members = Client.objects.filter(group__in=spoken, gone_by=None, settings__isnull=False)
    for pk, settings in members.values_list("group_id", "settings"):
        if (store := outside_store(settings)) is not None:
            named[pk].add(store)
    for pk, known in ConsumerGroup.objects.filter(pk__in=spoken).values_list("pk", "outside_store"):
        store = min(named[pk], default=None)
        if store != known:
            ConsumerGroup.objects.filter(pk=pk).update(outside_store=store)
