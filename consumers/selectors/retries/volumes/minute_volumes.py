"""The volumes of all groups in the newest minute that was judged whole."""

from datetime import datetime, timedelta
from typing import NamedTuple

from consumers.models import GroupWindow

MINUTE = timedelta(minutes=1)


class MinuteVolumes(NamedTuple):
    """Messages; null is not known."""

    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None


def minute_volumes(judged_until: datetime) -> dict[int, MinuteVolumes]:
    """By group id; absent where the minute was not judged. One query."""
    start = judged_until.replace(second=0, microsecond=0) - MINUTE
    rows = GroupWindow.objects.filter(step_seconds=60, start=start).values_list("group_id", *MinuteVolumes._fields)
    return {group: MinuteVolumes(*numbers) for group, *numbers in rows.iterator()}
