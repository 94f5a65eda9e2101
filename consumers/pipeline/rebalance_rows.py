"""Rebalance and RebalanceTopic rows of what a run found: those that differ are written, those not found again go.

The same range twice leaves every row as it is. A rebalance that is not settled is written again until it is.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from django.db import models, transaction
from django.db.models import Max

from consumers.models import ConsumerGroup, GroupState, Rebalance, RebalanceTopic
from consumers.polling.record.keyed_rows import upsert_rows
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.reasons import RebalanceReason
from consumers.vocabulary.times import from_microseconds

# SQLite takes no more than some thousand parameters in one statement.
AT_ONCE = 500


def newest_rebalances(group_ids: Collection[int]) -> dict[int, datetime]:
    """By group id; groups without a rebalance are left out."""
    ordered = sorted(group_ids)
    found: dict[int, datetime] = {}
    for start in range(0, len(ordered), AT_ONCE):
        rows = Rebalance.objects.filter(group__in=ordered[start : start + AT_ONCE]).order_by()
        found.update(rows.values_list("group").annotate(newest=Max("started_before")))
    return found


def stamp_last_rebalance(group_ids: Collection[int]) -> None:
    """Writes it to the states of these groups, where it differs. Groups that were never judged have none to stamp."""
    newest = newest_rebalances(group_ids)
    ordered = sorted(group_ids)
    for start in range(0, len(ordered), AT_ONCE):
        states = GroupState.objects.filter(group__in=ordered[start : start + AT_ONCE]).only("last_rebalance_at")
        differing = [state for state in states if state.last_rebalance_at != newest.get(state.pk)]
        for state in differing:
            state.last_rebalance_at = newest.get(state.pk)
        GroupState.objects.bulk_update(differing, ["last_rebalance_at"])


# Columns of events and of their topics, as Spark gives them, as the fields of rows; every null with its reason.

# Fields of a rebalance that may be null, and the reason where there is no other.
NO_REASON_GIVEN = {
    "started_after": RebalanceReason.NO_READING_BEFORE,
    "settled_at": RebalanceReason.NOT_SETTLED,
    "dated_at": RebalanceReason.NOT_DATED,
    "members_before": RebalanceReason.MEMBERS_BEFORE,
    "members_after": RebalanceReason.MEMBERS_AFTER,
    "client_ids_before": RebalanceReason.MEMBERS_BEFORE,
    "client_ids_after": RebalanceReason.MEMBERS_AFTER,
}
MOMENTS = {
    "started_after": "started_after_us",
    "last_change_at": "last_change_us",
    "settled_at": "settled_us",
    "dated_at": "dated_us",
    "episode_since": "episode_us",
}
COPIED = ["polls", "cause", "rollout", "members_before", "members_after", "client_ids_before", "client_ids_after"]


def event_values(one: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        field: None if one[name] is None else from_microseconds(one[name]) for field, name in MOMENTS.items()
    }
    values |= {name: one[name] for name in COPIED}
    values["evidence"] = json.loads(one["evidence"])
    values["retry_moves"] = []
    reasons = {**NO_REASON_GIVEN, **dict(one.get("unknown") or {})}
    values["unknown"] = {name: str(reasons[name]) for name in NO_REASON_GIVEN if values[name] is None}
    return values


def topic_values(one: dict[str, Any]) -> dict[str, Any]:
    """`unknown` is a JSON object of field and reason, of the topic and of each move."""
    values = {name: one[name] for name in RebalanceTopic.NUMBERS}
    values["moves"] = [{**move, "unknown": json.loads(move["unknown"])} for move in one["moves"] or []]
    values["unknown"] = json.loads(one["unknown"])
    return values


GROUPS_AT_ONCE = 200
Key = tuple[int, datetime]  # group id, started_before


def write_rebalances(events: pa.Table, topics: pa.Table | None, spans: pa.Table, until: datetime) -> int:
    """How many of `events` have rows: all but those of groups that were deleted meanwhile.

    `spans`: cluster, group, anchor_us: the groups that were looked at, each from when to `until`. Their rebalances in
    between are those of `events` and no others; all others stay. They are judged as of `until`.
    """
    ids = _group_ids(spans)
    anchors = {ids[one["cluster"], one["group"]]: from_microseconds(one["anchor_us"]) for one in _placed(spans, ids)}
    found = {_key(one, ids): event_values(one) for one in _placed(events, ids)}
    parts: dict[Key, dict[str, dict[str, Any]]] = {key: {} for key in found}
    for one in _placed(topics, ids) if topics else ():
        key, values = _key(one, ids), topic_values(one)
        if one["topic"].startswith(RETRY_PREFIX):
            found[key]["retry_moves"] += [{"topic": one["topic"], **move} for move in values["moves"]]
        else:
            parts[key][one["topic"]] = values
    for chosen in _batches(sorted(anchors)):
        with transaction.atomic():
            stored = _stored({pk: anchors[pk] for pk in chosen}, until)
            mine = {key: values for key, values in found.items() if key[0] in chosen}
            _delete(Rebalance.objects.all(), [row.pk for key, row in stored.items() if key not in mine])
            _write(mine, parts, stored, until)
            stamp_last_rebalance(chosen)
    return len(found)


def _write(
    found: dict[Key, dict[str, Any]],
    parts: dict[Key, dict[str, dict[str, Any]]],
    stored: dict[Key, Rebalance],
    judged_at: datetime,
) -> None:
    # What is still going on at the end of this range may have been seen further by a later run.
    later = {key for key, row in stored.items() if row.judged_at > judged_at}
    written = {key: values for key, values in found.items() if key not in later or values["settled_at"] is not None}
    differing = [
        {"group": key[0], "started_before": key[1], "judged_at": judged_at, **values}
        for key, values in written.items()
        if _differs(stored.get(key), values)
    ]
    upsert_rows(Rebalance, ["group", "started_before"], differing)
    _write_topics({pk: parts[key] for key, pk in _pks(written).items()})


def _pks(found: Collection[Key]) -> dict[Key, int]:
    groups, moments = {group for group, _ in found}, {started for _, started in found}
    rows = Rebalance.objects.filter(group__in=groups)
    if moments:
        rows = rows.filter(started_before__gte=min(moments), started_before__lte=max(moments))
    keys = ((row[:2], row[2]) for row in rows.values_list("group_id", "started_before", "pk"))
    return {key: pk for key, pk in keys if key in found}


def _write_topics(found: dict[int, dict[str, dict[str, Any]]]) -> None:
    stored = {(row.rebalance_id, row.topic): row for row in RebalanceTopic.objects.filter(rebalance__in=list(found))}
    wanted = {(pk, topic): values for pk, topics in found.items() for topic, values in topics.items()}
    _delete(RebalanceTopic.objects.all(), [row.pk for key, row in stored.items() if key not in wanted])
    differing = [
        {"rebalance": key[0], "topic": key[1], **values}
        for key, values in wanted.items()
        if _differs(stored.get(key), values)
    ]
    upsert_rows(RebalanceTopic, ["rebalance", "topic"], differing)


def _differs(row: models.Model | None, values: dict[str, Any]) -> bool:
    return row is None or any(getattr(row, name) != value for name, value in values.items())


def _stored(anchors: dict[int, datetime], until: datetime) -> dict[Key, Rebalance]:
    """Of each group those that began after its anchor."""
    rows = Rebalance.objects.filter(
        group__in=anchors, started_before__gt=min(anchors.values()), started_before__lt=until
    )
    return {(row.group_id, row.started_before): row for row in rows if row.started_before > anchors[row.group_id]}


def _delete(rows: models.QuerySet, pks: Sequence[int]) -> None:
    for start in range(0, len(pks), 500):
        rows.filter(pk__in=pks[start : start + 500]).delete()


def _group_ids(spans: pa.Table) -> dict[tuple[str, str], int]:
    clusters = set(spans["cluster"].to_pylist())
    rows = ConsumerGroup.objects.filter(cluster__name__in=clusters).values_list("cluster__name", "name", "id")
    return {(cluster, name): pk for cluster, name, pk in rows}


def _placed(rows: pa.Table, ids: dict[tuple[str, str], int]) -> Iterator[dict[str, Any]]:
    """A group may have been deleted since it was read."""
    return (one for one in rows.to_pylist() if (one["cluster"], one["group"]) in ids)


def _key(one: dict[str, Any], ids: dict[tuple[str, str], int]) -> Key:
    return ids[one["cluster"], one["group"]], from_microseconds(one["started_before_us"])


def _batches(pks: Sequence[int]) -> Iterator[set[int]]:
    for start in range(0, len(pks), GROUPS_AT_ONCE):
        yield set(pks[start : start + GROUPS_AT_ONCE])
