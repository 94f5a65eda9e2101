"""How long the queues of a reset are read back, by who is to follow and how often it commits."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import Client, Reset, ResetMethod, ResetQueue, ResetStep

from .case import Timing
from .outcome import ARRIVAL_SECONDS, LONG_POLL_SECONDS

COMMIT_SECONDS = 5.0
COMMIT_SETTING = "persistConsumerOffsetInterval"
# A member that is told stands still for so long, for one topic of one broker after the other.
TOLD_SECONDS = 10.0
# Whatever members are set to: others wait for the worker too.
LONGEST_SECONDS = 180.0
# So that what is about to settle does.
SPARE_SECONDS = 5.0


def timing_of(reset: Reset, rows: Sequence[ResetQueue], since: datetime) -> Timing:
    """`since`: when reading back begins, after all is written."""
    commit = commit_seconds(reset)
    calls = len({(row.topic, row.broker) for row in rows if row.method == ResetMethod.CLIENT})
    told = TOLD_SECONDS * calls + commit
    settled = settings.RESET_SETTLED_SECONDS
    pulls = LONG_POLL_SECONDS + commit if (reset.seen or {}).get("members") else 0.0
    late = ARRIVAL_SECONDS if any(row.step == ResetStep.UNANSWERED for row in rows) else 0.0
    needed = max(pulls, late, told if calls else 0.0) + settled + SPARE_SECONDS
    seconds = max(settings.RESET_READ_BACK_SECONDS, min(needed, LONGEST_SECONDS))
    return Timing(settled, since + timedelta(seconds=seconds), commit, told)


def commit_seconds(reset: Reset) -> float:
    """Of the group's slowest member, as it said; RocketMQ's default where none said it."""
    told = Client.objects.filter(group=reset.group_id, gone_by=None).values_list("settings", flat=True)
    texts = [one[COMMIT_SETTING] for one in told if one and COMMIT_SETTING in one]
    return max((int(text) / 1000 for text in texts if str(text).isdecimal()), default=COMMIT_SECONDS)
