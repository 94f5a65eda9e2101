"""What a slice of time is worked on with, beside the lake: what the database knows, and what the slice before left."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from consumers.lake.encoded import encoded

from .kernel.evidence import Known
from .rows import Span


@dataclass(frozen=True)
class SliceInputs:
    """Arrow tables: of the database (schemas in known.py, job.py and volumes.py), and the anchors that the slice before
    left."""

    known: Known
    retired: pa.Table
    silent: pa.Table
    appeared: pa.Table
    unread: pa.Table
    topics: pa.Table
    anchors: pa.Table

    def cut(self, spans: Sequence[Span]) -> "list[SliceInputs]":
        """Returns for each bucket the rows of its groups. Sending whole tables to each of many buckets would cost most
        of the run. A table without groups goes to every bucket."""
        parts = zip(_cut_fields(self.known, spans), _cut_fields(self, spans), strict=True)
        return [SliceInputs(known=Known(**of_known), **tables) for of_known, tables in parts]


def _cut_fields(inputs: "SliceInputs | Known", spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Of each bucket its part of each table, by name."""
    named = {one.name: getattr(inputs, one.name) for one in fields(inputs)}
    parts = {name: _cut(table, spans) for name, table in named.items() if isinstance(table, pa.Table)}
    return [{name: some[number] for name, some in parts.items()} for number in range(len(spans))]


def _cut(table: pa.Table, spans: Sequence[Span]) -> list[pa.Table]:
    """`spans`: in order, from the first name to the last."""
    if len(spans) == 1 or "group" not in table.column_names or not table.num_rows:
        return [table] * len(spans)
    table = table.combine_chunks()
    groups = encoded(table["group"])
    firsts = [span.first for span in spans]
    of_name = np.array([bisect_right(firsts, name) - 1 for name in groups.dictionary.to_pylist()], np.int64)
    number = of_name[np.asarray(groups.indices)]
    order = np.argsort(number, kind="stable")
    ends = np.searchsorted(number[order], np.arange(len(spans) + 1))
    return [table.take(pa.array(order[begin:end])) for begin, end in pairwise(ends)]
