"""Celery tasks, a few lines each: what they call is tested without Celery."""

from . import aggregate, looks, poll

__all__ = ["aggregate", "looks", "poll"]
