"""Celery tasks, a few lines each: what they call is tested without Celery."""

from . import aggregate, poll

__all__ = ["aggregate", "poll"]
