"""What a rule is: its code, the state it gives, which queues it is about, and the numbers it looked at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.columns import Columns, arrow
from consumers.vocabulary.states import RuleCode, State

# Of the queues that a rule decided: numpy (NaN: not known), Arrow (null), or the name of a column.
Evidence = str | Callable[[Columns], "np.ndarray | pa.Array | pa.ChunkedArray"]


@dataclass(frozen=True)
class Rule:
    """`since_us`: when the state began, where the rule has evidence of it; else it counts from when first judged."""

    code: RuleCode
    state: State
    mask: Callable[[Columns], np.ndarray]
    detail: Mapping[str, Evidence] = field(default_factory=dict)
    since_us: Evidence | None = None
    is_provisional: bool = False


def values(evidence: Evidence, columns: Columns) -> pa.Array:
    """Of every row of `columns`; null where it is not known."""
    found = columns.table[evidence] if isinstance(evidence, str) else evidence(columns)
    if isinstance(found, np.ndarray):
        return arrow(found) if found.dtype.kind in "fb" else pa.array(found)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def everything(columns: Columns) -> np.ndarray:
    return np.ones(columns.count, bool)
