"""Celery tasks. Celery looks for them here: polls and runs of the pipeline are beside this file, the tasks of a
capability in its own folder. What tasks call is tested without Celery.
"""

from consumers.alerts import tasks as alerts
from consumers.clock import tasks as clock
from consumers.dead_letters import tasks as dead_letters
from consumers.resets import tasks as resets

from . import aggregate, poll

__all__ = ["aggregate", "alerts", "clock", "dead_letters", "poll", "resets"]
