"""Brokers and a clock as resets are applied with."""

from tests.consumers.resets.applying.conftest import clock, site

__all__ = ["clock", "site"]
