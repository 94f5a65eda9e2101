"""What the members of a group are set to, where they differ from each other and from RocketMQ's defaults; and how each
broker configures the group."""

from collections.abc import Sequence
from dataclasses import dataclass

from consumers.models import Client, ConsumerGroup, GroupBroker
from consumers.rocketmq.client_defaults import DEFAULTS

# Each member has its own, by when it was started.
OF_ONE_MEMBER = ("consumeTimestamp", "PROP_CLIENT_VERSION")


@dataclass(frozen=True)
class SettingValue:
    """`value` is null of members that do not report it."""

    value: str | None
    client_ids: tuple[str, ...]
    is_default: bool | None  # null: the default is not known


@dataclass(frozen=True)
class MemberSetting:
    """Values by how many members have them, most first."""

    name: str
    values: tuple[SettingValue, ...]
    default: str | None

    @property
    def differs(self) -> bool:
        return len(self.values) > 1

    @property
    def is_default(self) -> bool:
        return not self.differs and self.values[0].is_default is True


@dataclass(frozen=True)
class MemberSettings:
    """`silent`: members that have not reported their settings, with the reason."""

    rows: tuple[MemberSetting, ...]
    reported: int
    silent: tuple[tuple[str, str | None], ...]


def member_settings(group: ConsumerGroup) -> MemberSettings:
    """Of the members that brokers list now: first what differs, then what is no default. One query."""
    members = Client.objects.filter(group=group, gone_by=None).order_by("client_id")
    told: dict[str, dict[str, str]] = {}
    silent: list[tuple[str, str | None]] = []
    for client_id, settings, error in members.values_list("client_id", "settings", "running_info_error"):
        if settings is None:
            silent.append((client_id, error))
        else:
            told[client_id] = settings
    names = sorted({name for settings in told.values() for name in settings} - set(OF_ONE_MEMBER))
    rows = sorted((_setting(name, told) for name in names), key=lambda row: (not row.differs, row.is_default, row.name))
    return MemberSettings(tuple(rows), len(told), tuple(silent))


def _setting(name: str, told: dict[str, dict[str, str]]) -> MemberSetting:
    default = DEFAULTS.get(name)
    by_value: dict[str | None, list[str]] = {}
    for client_id, settings in told.items():
        by_value.setdefault(settings.get(name), []).append(client_id)
    values = [
        SettingValue(value, tuple(ids), None if default is None or value is None else value == default)
        for value, ids in sorted(by_value.items(), key=lambda one: (-len(one[1]), str(one[0])))
    ]
    return MemberSetting(name, tuple(values), default)


def broker_configs(group: ConsumerGroup) -> Sequence[GroupBroker]:
    """As each broker has it, by the broker's name. One query."""
    return list(GroupBroker.objects.filter(group=group).order_by("broker"))
