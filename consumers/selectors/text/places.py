"""Where something is, in words: which queues of which topic on which broker."""

from collections.abc import Sequence

from django.utils.translation import ngettext

from .measures import count


def place(topic: str, broker: str, ids: Sequence[int]) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–3, 6, 7)`."""
    words = {"n": count(len(ids)), "ids": _spans(ids), "topic": topic, "broker": broker}
    one, many = "queue %(ids)s of %(topic)s on %(broker)s", "%(n)s queues of %(topic)s on %(broker)s (%(ids)s)"
    return ngettext(one, many, len(ids)) % words


def _spans(ids: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for queue_id in sorted(ids):
        if spans and queue_id == spans[-1][-1] + 1:
            spans[-1].append(queue_id)
        else:
            spans.append([queue_id])
    return ", ".join(f"{span[0]}–{span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans)
