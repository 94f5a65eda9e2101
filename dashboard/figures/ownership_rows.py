"""The rows of the ownership picture: how high they are, what is written beside them, where a topic ends."""

from collections.abc import Sequence

from consumers.selectors.ownership.rows import TimelineQueue

from .layout import AXIS, LEFT
from .ownership_alarms import lanes
from .points import Figure
from .queue_heatmap import LABEL_LETTERS

ROOMY_PIXELS, ROOMY_QUEUES, ROW_PIXELS, MOST_PIXELS, LABEL_PIXELS = 22, 24, 14, 1200, 14
LANE_PIXELS, TOP, FOOT = 64, 30, 42


def rows_height(queues: int) -> int:
    """Rows grow thin where there are many; the picture never outgrows two screens."""
    return ROOMY_PIXELS * max(2, queues) if queues <= ROOMY_QUEUES else min(MOST_PIXELS, ROW_PIXELS * queues)


def place(queues: int) -> Figure:
    """The lanes of alarms above the rows, each in its share of the height."""
    plot = rows_height(queues) + LANE_PIXELS
    lanes_from = rows_height(queues) / plot
    return {
        "height": plot + TOP + FOOT,
        "margin": {"l": LEFT, "r": 14, "t": TOP, "b": FOOT},
        "yaxis": {
            **AXIS,
            "domain": [0, lanes_from],
            "range": [queues - 0.5, -0.5],
            "showgrid": False,
        },
        "yaxis2": {**AXIS, "domain": [lanes_from, 1], "fixedrange": True, "showgrid": False, **lanes()},
    }


def row_ticks(queues: Sequence[TimelineQueue]) -> Figure:
    """Each topic and broker by name at its first queue, then as many queue ids as have room."""
    pixels = rows_height(len(queues)) / max(1, len(queues))
    apart = -(-LABEL_PIXELS // pixels)
    heads = _heads(queues)
    ticks: dict[float, str] = {}
    free_from = 0.0
    for row, queue in enumerate(queues):
        if row < free_from:
            continue
        if row in heads:
            lines = _head(queues, row)
            # Text stands centred on its tick: of two lines the first is to stand at the queue.
            ticks[row + (len(lines) - 1) * LABEL_PIXELS / pixels / 2] = "<br>".join(lines)
            free_from = row + len(lines) * apart
        elif not any(row < head < row + apart for head in heads):
            ticks[row] = str(queue.queue_id)
            free_from = row + apart
    return {"tickvals": list(ticks), "ticktext": list(ticks.values())}


def topic_ends(queues: Sequence[TimelineQueue]) -> list[Figure]:
    """A line between one topic or broker and the next."""
    return [
        {
            "type": "line",
            "xref": "paper",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": row - 0.5,
            "y1": row - 0.5,
            "line": {"color": "var(--ink-quiet)", "width": 1},
        }
        for row in _heads(queues)
        if row
    ]


def _heads(queues: Sequence[TimelineQueue]) -> list[int]:
    """The rows at which a block begins."""
    return [
        row
        for row, queue in enumerate(queues)
        if not row or (queue.topic, queue.broker) != (queues[row - 1].topic, queues[row - 1].broker)
    ]


def _head(queues: Sequence[TimelineQueue], row: int) -> list[str]:
    """Topic, broker and queue id, without what all queues share; two lines where both topic and broker differ."""
    topic, broker = queues[row].topic, queues[row].broker
    shows_topic = any(queue.topic != topic for queue in queues)
    shows_broker = any(queue.broker != broker for queue in queues)
    ends = f"{broker} / {queues[row].queue_id}" if shows_broker else str(queues[row].queue_id)
    if not shows_topic:
        return [_end_of(ends)]
    return [_begin_of(topic), _end_of(ends)] if shows_broker else [_end_of(f"{topic} / {ends}")]


def _begin_of(text: str) -> str:
    return text if len(text) < LABEL_LETTERS else f"{text[: LABEL_LETTERS - 2]}…"


def _end_of(text: str) -> str:
    return text if len(text) <= LABEL_LETTERS else f"…{text[1 - LABEL_LETTERS :]}"
