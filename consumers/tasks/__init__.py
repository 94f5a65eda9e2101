"""Celery tasks, a few lines each: what they call is tested without Celery."""

from . import aggregate, clock, dead_letters, exports, health, looks, poll, previews, resends, resets

__all__ = [
    "aggregate",
    "clock",
    "dead_letters",
    "exports",
    "health",
    "looks",
    "poll",
    "previews",
    "resends",
    "resets",
]
