"""Names of columns that say nothing to a reader, and what the admin pages call them. All others go by their own name.

By the name of the column, or with its model where other models have another column of that name. Each is a message in
the context "field" for the catalogue.
"""

COLUMN_NAMES = {
    "again": "resends what was resent",
    "answered": "offset in the answer",
    "clip": "clamped to min and max",
    "gone_by": "left by",
    "groups_judged": "evaluated groups",
    "judged_at": "evaluated at",
    "looked_at": "inspected at",
    "moved_at": "last consumed at",
    "moves_offline": "moves while offline",
    "now_offset": "offset at planning",
    "presence": "answers about members by day",
    "queues_judged": "evaluated queues",
    "seen_since": "first seen",
    "steady_seconds": "steady clock, seconds",
    "sub_version": "last change by client clock",
    "usual_gap_at": "usual commit gap evaluated at",
    "usual_gap_seconds": "usual commit gap, seconds",
    "void": "discarded rows",
    "wheel": "timer wheel backlog",
    "wheel_at": "timer wheel scraped at",
    "wheel_error": "timer wheel error",
    "TagSample.looked_at": "inspected messages",
}


def column_name(name: str, model: str = "") -> str:
    return COLUMN_NAMES.get(f"{model}.{name}") or COLUMN_NAMES.get(name) or name.replace("_", " ")
