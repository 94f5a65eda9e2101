"""Microseconds a second, for what Spark still counts in them."""

from .kernel.segments import MICROSECONDS as MICROSECONDS
