"""The Settings tab of a group: what its members are set to and where they differ, and its configuration per broker."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from consumers.groups.detail import group_head
from consumers.ownership.members import broker_configs, member_settings
from dashboard.pages.common.frame import context, frame_of, group_or_404, refreshing, tabs

# Columns of what a broker has configured for a group.
FLAGS = ("consume_enable", "broadcast_enable", "orderly")
NUMBERS = ("retry_max_times", "retry_queue_nums", "consume_timeout_minutes")


def settings_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = group_or_404(cluster, name)
    found = member_settings(group)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        settings=found,
        configs=[
            (one, [getattr(one, name) for name in FLAGS], [getattr(one, name) for name in NUMBERS])
            for one in broker_configs(group)
        ],
    )


settings, settings_part = refreshing(
    "ownership/group_settings.html", "ownership/group_settings_part.html", settings_context
)
