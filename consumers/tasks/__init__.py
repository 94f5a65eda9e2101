"""Celery tasks, a few lines each: what they call is tested without Celery."""

from . import poll

__all__ = ["poll"]
