"""Texts that may be empty in a row, and null with a reason to whoever reads: an empty text says nothing."""

from collections.abc import Mapping
from typing import Any


def said(values: Mapping[str, Any], why: Mapping[str, str]) -> dict[str, Any]:
    """`values` with None for "", and `unknown` with the reason of each None. Each that may be None has a reason."""
    found = {name: None if value == "" else value for name, value in values.items()}
    return {**found, "unknown": {name: why[name] for name, value in found.items() if value is None}}
