"""All rules in order: the first that holds decides, and the last one always holds."""

from consumers.pipeline.durations import Durations

from . import expired, falling_behind, keeping_up, kinds, moved_back, reading, standing
from .rule import Rule


def ordered_rules(durations: Durations) -> list[Rule]:
    return [
        *kinds.kept_outside(),
        *reading.unread(durations),
        *expired.lost_offsets(),
        *reading.rules(durations),
        *kinds.ghosts(),
        *moved_back.rules(durations),
        *expired.rules(),
        *kinds.popped(),
        *keeping_up.rules(),
        *kinds.standing_as_meant(durations),
        *standing.rules(durations),
        *falling_behind.rules(),
    ]
