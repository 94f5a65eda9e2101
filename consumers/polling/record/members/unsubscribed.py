"""Topics that a group has offsets of, but that no member subscribes to, and since when.

A broker tells the subscription of the member that registered last; only the members' own tell that of every one
(RocketMQ 5.4.0, ConsumerGroupInfo.updateSubscription).
"""

from collections.abc import Mapping
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from consumers.models import Client, Cluster, ConsumerGroup
from consumers.polling.reading import GroupMembers, MembersReading


def record_unsubscribed(cluster: Cluster, members: MembersReading, rows: pa.Table) -> None:
    """`rows` are those of the same reading. A group without members, or not asked whole, keeps what it had."""
    answers = {answer.group: answer for answer in members.groups if answer.complete and answer.members}
    if not answers:
        return
    lacking = _lacking(answers, rows)
    noted = dict(cluster.groups.exclude(unsubscribed={}).values_list("name", "unsubscribed"))
    asked = {group for group in answers if lacking.get(group) or group in noted}
    told = _told(cluster, {group for group in asked if lacking.get(group)})
    changed: dict[str, dict[str, str]] = {}
    for group in asked:
        before = noted.get(group, {})
        after = unsubscribed(before, lacking.get(group, set()), told.get(group), members.taken_at)
        if after != before:
            changed[group] = after
    stored = list(cluster.groups.filter(name__in=list(changed)).only("name"))
    for row in stored:
        row.unsubscribed = changed[row.name]
    ConsumerGroup.objects.bulk_update(stored, ["unsubscribed"], batch_size=200)


def unsubscribed(before: Mapping[str, str], lacking: set[str], told: set[str] | None, now: datetime) -> dict[str, str]:
    """`lacking`: topics that the broker's answer lacks; `told`: what all members subscribe to, null where one has not
    said. Until then nothing is added to what was known before."""
    if told is None:
        return {topic: since for topic, since in before.items() if topic in lacking}
    return {topic: before.get(topic, now.isoformat()) for topic in sorted(lacking - told)}


def _lacking(answers: Mapping[str, GroupMembers], rows: pa.Table) -> dict[str, set[str]]:
    is_committed = pc.and_(pc.equal(rows["kind"], "normal"), pc.is_valid(rows["consumer_offset"]))
    chosen = pc.and_(is_committed, pc.is_in(rows["group"], value_set=pa.array(sorted(answers), pa.string())))
    pairs = rows.filter(chosen).group_by(["group", "topic"]).aggregate([])
    lacking: dict[str, set[str]] = {}
    for group, topic in zip(pairs["group"].to_pylist(), pairs["topic"].to_pylist(), strict=True):
        if not any(subscription["topic"] == topic for subscription in answers[group].subscriptions):
            lacking.setdefault(group, set()).add(topic)
    return lacking


def _told(cluster: Cluster, groups: set[str]) -> dict[str, set[str]]:
    """The topics that the present members of each group subscribe to, of groups where every one has said so."""
    present = Client.objects.filter(group__cluster=cluster, group__name__in=groups, gone_by=None)
    told: dict[str, set[str]] = {}
    silent: set[str] = set()
    for group, subscriptions in present.values_list("group__name", "subscriptions"):
        if subscriptions is None:
            silent.add(group)
        else:
            told.setdefault(group, set()).update(one["topic"] for one in subscriptions)
    return {group: topics for group, topics in told.items() if group not in silent}
