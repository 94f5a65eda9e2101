"""What a master says of itself: whether it moves offsets on its own, and whether it may be written to."""

from collections.abc import Mapping
from dataclasses import replace

from consumers.resets.facts import BrokerFacts
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.values import mq_version_name

from .masters import Master, Masters

NO_MASTER = "no master of it is known: it is down, or only its slave is up"
# Brokers from 5.1 on name it; those before it leave the work to the members (5.4.0, BrokerConfig).
SERVER_SIDE = "useServerSideResetOffset"
PERMISSION = "brokerPermission"


async def broker_facts(masters: Masters, name: str) -> BrokerFacts:
    master = masters.get(name)
    if master is None:
        return BrokerFacts(name, None, None, None, NO_MASTER)
    try:
        config = await master.ask(lambda admin, seconds: admin.config(deadline_seconds=seconds))
    except RocketMQError as error:
        return BrokerFacts(name, _version(master), None, None, str(error))
    return replace(told(name, _version(master), config), address=master.address)


def told(name: str, version: str | None, config: Mapping[str, str]) -> BrokerFacts:
    server_side, permission = config.get(SERVER_SIDE, "false"), config.get(PERMISSION, "")
    if server_side not in ("true", "false"):
        return BrokerFacts(name, version, None, None, f"its {SERVER_SIDE} is neither true nor false: {server_side}")
    if not permission.isdecimal():
        return BrokerFacts(
            name, version, None, None, f"its {PERMISSION} is not a number: {permission or 'it has none'}"
        )
    return BrokerFacts(name, version, server_side == "true", int(permission))


def _version(master: Master) -> str | None:
    return None if master.version is None else mq_version_name(master.version)
