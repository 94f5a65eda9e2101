"""Resets for lists of many: one of ten thousand queues must not make a page of a hundred too long to read."""

from dataclasses import replace
from typing import Any

from .rows import ResetRow

# A cell of a spreadsheet holds 32,767 characters.
LONGEST_LIST = 100


def shortened(row: ResetRow) -> ResetRow:
    """Without its lists of queues where they are long; `unknown` says where they stand."""
    found = {"value": row.value, "chosen_queues": row.chosen_queues}
    long = {name: len(said) for name, said in found.items() if isinstance(said, list) and len(said) > LONGEST_LIST}
    why = {name: f"a list of {queues} queues: they stand in the reset itself" for name, queues in long.items()}
    elsewhere: dict[str, Any] = dict.fromkeys(long)
    return replace(row, **elsewhere, unknown=row.unknown | why)
