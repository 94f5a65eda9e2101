"""When a group last changed, and since when two whole readings in a row agree on it: by the rows alone.

Whole is a reading in which every broker and every listed member answered. Members that are silent for so long that
nobody waits for them, or behind a proxy that passes no question on, are left out: such groups settle without them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.models import ConsumerGroup
from consumers.polling.reading import GroupMembers

from .client_rows import ClientKey, ClientRows

# As long as a broker waits for a client's heartbeat (RocketMQ 5.4.0, BrokerConfig.channelExpiredTimeout).
WAITED_FOR = timedelta(seconds=120)


@dataclass(frozen=True)
class Agreement:
    """`whole`: every member spoke in this reading. `whole_before`: when the last reading before it was whole."""

    whole: bool
    whole_before: datetime | None


def agreements(
    rows: ClientRows, groups: Mapping[int, ConsumerGroup], answered: Iterable[ClientKey], now: datetime
) -> dict[int, Agreement]:
    """By group id. `groups` are the rows as they were before this reading."""
    spoke = set(answered)
    members: dict[int, list[ClientKey]] = {pk: [] for pk in groups}
    for key, row in rows.present.items():
        silent_for = now - (rows.spoke_at.get(key) or row.seen_since)
        if key in spoke or row.running_info_error is None or silent_for < WAITED_FOR:
            members[key[0]].append(key)
    return {
        pk: Agreement(spoke.issuperset(keys), _whole_before(groups[pk], [rows.spoke_at.get(key) for key in keys]))
        for pk, keys in members.items()
    }


def _whole_before(group: ConsumerGroup, spoke_at: list[datetime | None]) -> datetime | None:
    """When all of them last spoke in one reading, if every broker answered in it."""
    if not spoke_at:
        return group.membership_at
    at = spoke_at[0]
    if at is None or len(set(spoke_at)) > 1 or group.membership_at is None or group.membership_at < at:
        return None
    return at


def settle(
    group: ConsumerGroup, answer: GroupMembers, agreement: Agreement, *, is_changed: bool, now: datetime
) -> None:
    """Writes into the row. Partial answers are no agreement, and change only what they show."""
    is_changed = _note_sub_version(group, answer, is_changed) or is_changed
    if is_changed or (group.members_changed_at is None and (answer.complete or answer.members)):
        group.members_changed_at, group.settled_at = now, None
        return
    before, changed_at = agreement.whole_before, group.members_changed_at
    if before is None or changed_at is None or before < changed_at:
        return
    if group.settled_at is None and answer.complete and agreement.whole:
        group.settled_at = before


def _note_sub_version(group: ConsumerGroup, answer: GroupMembers, is_changed: bool) -> bool:
    """Whether it says of a change. Brokers differ in what they tell, and where members subscribe differently the newest
    comes and goes: only a newer one than was ever told of these members is a change of theirs."""
    told, known = answer.sub_version, group.sub_version
    if told is None or told == known:
        return False
    if known is None or told > known or (is_changed and answer.complete):
        group.sub_version = told
    return known is not None and told > known
