"""Members of groups, what they hold and subscribe to, as intervals with the bounds that polling can give."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from consumers.models import Client, Cluster, ConsumerGroup
from consumers.polling.members.client_settings import OFFSET_STORE, outside_store
from consumers.polling.reading import GroupMembers, MembersReading

from .assignments import record_assignments
from .client_rows import ClientRows
from .continuity import Continuity
from .ids import BATCH, EntityIds
from .keyed_rows import rewrite
from .listed import list_members
from .settling import Agreement, agreements, settle
from .spoken import note_words
from .stamps import stamp
from .subscriptions import record_subscriptions

GROUP_FIELDS = (
    "online",
    "members",
    "message_model",
    "consume_type",
    "consume_from_where",
    "membership_error",
    "offline_since",
    "moves_offline",
    "sub_version",
    "members_changed_at",
    "settled_at",
)


def record_members(
    cluster: Cluster, ids: EntityIds, reading: MembersReading, stand_ins: Collection[str], longest_silence: timedelta
) -> None:
    """`stand_ins`: brokers that a slave answered for. `longest_silence`: after that, who held a queue before and holds
    it again has held it all the time only if he proves it."""
    now = reading.taken_at
    answers = {ids.groups[answer.group]: answer for answer in reading.groups if answer.group in ids.groups}
    with transaction.atomic():
        groups = {row.pk: row for row in _group_rows(cluster, answers.values())}
        names = {row.name: pk for pk, row in groups.items()}
        rows = ClientRows.of(groups)
        came_or_went = list_members(rows, names, answers.values(), stand_ins, now)
        listed = [(pk, member.client_id) for pk, answer in answers.items() for member in answer.members]
        spoken = note_words(rows, names, reading.clients, Continuity(groups, longest_silence), now)
        rows.write(listed, spoken.answered, now)
        spoke_before = {key for key, at in rows.spoke_at.items() if at is not None}
        # Of the others no interval can begin, grow or end.
        heard = {groups[pk].name: pk for pk in came_or_went | {group for group, _ in spoken.answered}}
        moved = record_assignments(ids, heard, reading, spoken, spoke_before)
        record_subscriptions(heard, reading, spoken)
        agreed = agreements(rows, groups, spoken.answered, now)
        _record_groups(groups, answers, agreed, came_or_went | spoken.changed | moved, now)
        _record_outside_stores(came_or_went | spoken.reset)


def _group_rows(cluster: Cluster, answers: Iterable[GroupMembers]) -> list[ConsumerGroup]:
    rows = cluster.groups.filter(name__in=[answer.group for answer in answers])
    return list(rows.defer("presence", "unsubscribed"))


def _record_groups(
    groups: Mapping[int, ConsumerGroup],
    answers: Mapping[int, GroupMembers],
    agreed: Mapping[int, Agreement],
    changed: Collection[int],
    now: datetime,
) -> None:
    differing: dict[int, tuple[Any, ...]] = {}
    subscribed, complete = [], []
    for pk, group in groups.items():
        answer = answers[pk]
        before, subscriptions = _values(group), group.subscriptions
        _note_answer(group, answer, now)
        settle(group, answer, agreed[pk], is_changed=pk in changed, now=now)
        if before != (after := _values(group)):
            differing[pk] = after
        if subscriptions != group.subscriptions:
            subscribed.append(group)
        if answer.complete:
            complete.append(pk)
    if differing:
        columns: dict[str, Sequence[Any]] = dict(zip(GROUP_FIELDS, zip(*differing.values(), strict=True), strict=True))
        rewrite(ConsumerGroup, list(differing), columns)
    ConsumerGroup.objects.bulk_update(subscribed, ["subscriptions"], batch_size=BATCH // 10)
    stamp(ConsumerGroup.objects.all(), complete, membership_at=now)


def _values(group: ConsumerGroup) -> tuple[Any, ...]:
    return tuple(getattr(group, name) for name in GROUP_FIELDS)


def _note_answer(group: ConsumerGroup, answer: GroupMembers, now: datetime) -> None:
    group.membership_error = answer.error
    # One answering broker proves that a group is online; only all of them prove that it is not.
    group.online = True if answer.members else False if answer.complete else None
    group.members = len(answer.members) if answer.complete else None
    if answer.members:
        group.message_model = answer.message_model
        group.consume_type = answer.consume_type
        group.consume_from_where = answer.consume_from_where
        group.subscriptions = list(answer.subscriptions)
        group.offline_since, group.moves_offline = None, 0
    elif answer.complete:
        group.offline_since = group.offline_since or now


def _record_outside_stores(groups: Collection[int]) -> None:
    """Of groups whose members came, went or spoke: what any present member has ever said of its store counts."""
    named: dict[int, set[str]] = {pk: set() for pk in groups}
    members = Client.objects.filter(group__in=groups, gone_by=None, settings__isnull=False)
    for pk, store in members.values_list("group_id", f"settings__{OFFSET_STORE}"):
        if store is not None and (outside := outside_store({OFFSET_STORE: store})) is not None:
            named[pk].add(outside)
    for pk, known in ConsumerGroup.objects.filter(pk__in=groups).values_list("pk", "outside_store"):
        store = min(named[pk], default=None)
        if store != known:
            ConsumerGroup.objects.filter(pk=pk).update(outside_store=store)
