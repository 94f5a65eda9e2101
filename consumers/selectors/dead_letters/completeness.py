"""How much of a group's dead letters has rows, and why not all."""

from consumers.models import ConsumerGroup, DeadLetterLook, GroupTotal

from .rows import Completeness

NOT_LOOKED = "no worker has looked into its dead letters yet"
NOT_COUNTED = "whether more came since is not known: not every broker was read"
NOBODY_KNOWS = "how many dead letters it has is not known: not every broker was read"


def completeness(group: ConsumerGroup) -> Completeness:
    """Two queries."""
    looks = list(group.dead_letter_looks.order_by("broker", "queue_id"))
    total = GroupTotal.objects.filter(group=group).values_list("dlq_messages", flat=True).first()
    if not looks:
        return _without_a_look(group, total)
    stocks = [stock for look in looks if (stock := _stock(look)) is not None]
    indexed = [_indexed(look) for look in looks if look.indexed_to is not None]
    messages = sum(stocks) if len(stocks) == len(looks) else None
    reason = _reason(looks, messages, sum(indexed), total)
    return Completeness(
        messages=messages,
        indexed_messages=sum(indexed) if indexed else None,
        looked_at=min((look.looked_at for look in looks if look.indexed_to is not None), default=None),
        unknown_reason=reason,
        unknown=_unknown(reason, messages, indexed),
    )


def _without_a_look(group: ConsumerGroup, total: int | None) -> Completeness:
    """The poll counts dead letters too: none of it is not unknown."""
    if total == 0:
        read = group.cluster.brokers.filter(broker_id=0).values_list("last_read_at", flat=True)
        looked_at = min((at for at in read if at), default=None)
        return Completeness(0, 0, looked_at, None, {} if looked_at else {"looked_at": NOT_LOOKED})
    reason = NOBODY_KNOWS if total is None else NOT_LOOKED
    return Completeness(total, None, None, reason, _unknown(reason, total, []) | {"looked_at": NOT_LOOKED})


def _stock(look: DeadLetterLook) -> int | None:
    if look.min_offset is None or look.broker_offset is None:
        return None
    return look.broker_offset - look.min_offset


def _indexed(look: DeadLetterLook) -> int:
    assert look.indexed_from is not None
    assert look.indexed_to is not None
    return look.indexed_to - look.indexed_from


def _reason(looks: list[DeadLetterLook], messages: int | None, indexed: int, total: int | None) -> str | None:
    """The first of what is wrong."""
    errors = [f"{look.broker}: {look.error}" for look in looks if look.error]
    if errors:
        return "; ".join(dict.fromkeys(errors))
    if messages is None:
        return NOT_LOOKED
    if total is None:
        return NOT_COUNTED
    if total != messages:
        return f"the newest reading counts {total:,}, the last look {messages:,}: the next look brings the rest"
    if indexed < messages:
        return f"the newest {indexed:,} of {messages:,} are listed"
    return None


def _unknown(reason: str | None, messages: int | None, indexed: list[int]) -> dict[str, str]:
    said = reason or NOT_LOOKED
    missing = {} if indexed else {"indexed_messages": said, "looked_at": said}
    return missing | ({"messages": said} if messages is None else {})
