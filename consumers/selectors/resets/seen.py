"""The group as its plan saw it, out of the reset's row."""

from collections.abc import Mapping
from typing import Any

from .rows import SeenBroker, SeenGroup

OFFLINE = "the group had no member"
UNSAID = "no member said it"
NOT_SAID_BY_BROKER = "the broker did not say it"
OF_MEMBERS = ("orderly", "message_model", "consume_type")
OF_BROKERS = ("version", "server_side", "permission")


def seen_group(seen: Mapping[str, Any] | None) -> SeenGroup | None:
    if seen is None:
        return None
    members = seen.get("members")
    values = {name: seen.get(name) for name in OF_MEMBERS}
    why = OFFLINE if members == [] else UNSAID
    unknown = {name: why for name, value in values.items() if value is None}
    if members is None:
        unknown["members"] = "not every broker said who its members are"
    brokers = seen.get("brokers") or {}
    return SeenGroup(
        members=members,
        **values,
        brokers=[_broker(name, brokers[name]) for name in sorted(brokers)],
        unknown=unknown,
    )


def _broker(name: str, said: Mapping[str, Any]) -> SeenBroker:
    values = {field: said.get(field) for field in OF_BROKERS}
    unknown = {field: NOT_SAID_BY_BROKER for field, value in values.items() if value is None}
    return SeenBroker(name=name, **values, unknown=unknown)
