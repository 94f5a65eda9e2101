"""What a broker holds, by RocketMQ's own client: the same before and after whatever only looks."""

import json
import time

from consumers.rocketmq.wire.codes import RequestCode
from tests.plugins.java_admin import JavaAdmin

# Topics and groups with their versions, which count every change; delay offsets; modes of groups.
STATE = [
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.GET_ALL_DELAY_OFFSET,
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE,
]
COUNTERS = ["msgPutTotalTodayNow", "commitLogMaxOffset", "commitLogMinOffset"]
MESSAGES_READ = "msgGetTotalTodayNow"


SETTLED_SECONDS = 240.0


def wait_until_delivered(admin: JavaAdmin) -> None:
    """Until no message waits on a delay level: those that other tests left there are stored anew when they are due."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while waiting := _delayed(admin):
        assert time.monotonic() < deadline, waiting
        time.sleep(0.5)


def _delayed(admin: JavaAdmin) -> dict[str, str]:
    """By level, how far it is delivered and its end, where both differ (5.4.0, ScheduleMessageService)."""
    levels = {name: told for name, told in _runtime(admin).items() if name.startswith("scheduleMessageOffset_")}
    return {name: told for name, told in levels.items() if len(set(told.split(","))) == 2}


def _runtime(admin: JavaAdmin) -> dict[str, str]:
    return dict(json.loads(admin.ask("broker-a", RequestCode.GET_BROKER_RUNTIME_INFO))["table"])


def state(admin: JavaAdmin) -> dict[str, str]:
    said = {code.name: admin.ask("broker-a", code) for code in STATE}
    # The version of the offsets counts commits, of which a member makes some every 5 s, moved or not.
    offsets = admin.ask("broker-a", RequestCode.GET_ALL_CONSUMER_OFFSET)
    return {**said, "offsets": offsets[offsets.index('"groupTopicMap"') :]}


def counters(admin: JavaAdmin) -> tuple[dict[str, int], int]:
    """What was stored since the start, and how many messages were read from the commit log."""
    table = _runtime(admin)
    return {name: int(table[name]) for name in COUNTERS}, int(table[MESSAGES_READ])
