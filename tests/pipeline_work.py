"""Work of the pipeline over a lake whose database knows nothing, unless it is said."""

from datetime import datetime
from typing import Any

import pyarrow as pa

from consumers.lake.store import Lake
from consumers.pipeline.bucket import Work
from consumers.pipeline.durations import Durations
from consumers.pipeline.inputs import SliceInputs
from consumers.pipeline.job import GROUPS, RETIRED
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.evidence import Known
from consumers.pipeline.known import HANDS, LOST, MEMBERS, RETENTION, SILENT, STILL, UNREAD
from consumers.pipeline.rows import Span
from consumers.pipeline.volumes import APPEARED, TOPICS

KNOWN = {"groups": GROUPS, "members": MEMBERS, "retention": RETENTION, "still": STILL, "lost": LOST, "hands": HANDS}
FACTS = {
    "retired": RETIRED,
    "silent": SILENT,
    "appeared": APPEARED,
    "unread": UNREAD,
    "topics": TOPICS,
    "anchors": ANCHORS,
}


def facts(**rows: list[dict[str, Any]]) -> SliceInputs:
    """Of each name the rows that the database has."""

    def tables(schemas: dict[str, pa.Schema]) -> dict[str, pa.Table]:
        return {name: pa.Table.from_pylist(rows.get(name, []), schema) for name, schema in schemas.items()}

    return SliceInputs(known=Known(**tables(KNOWN)), **tables(FACTS))


def a_work(lake: Lake, since: datetime, until: datetime, **fields: Any) -> Work:
    values: dict[str, Any] = {
        "durations": Durations(),
        "facts": facts(),
        "spans": (Span(),),
        "is_last": True,
        "is_wide": False,
        "asked_since": since,
    }
    values |= fields
    return Work(lake.url, ("prod",), since=since, until=until, **values)
