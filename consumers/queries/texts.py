"""Numbers, durations and places in words: what every page, error and notification shares."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext, ngettext

from consumers.words.spans import age as age, chosen as chosen, count as count, messages as messages


def rate(per_second: float) -> str:
    """Messages per second, with as many digits as matter."""
    return gettext("%(rate)s/s") % {"rate": f"{per_second:,.0f}" if abs(per_second) >= 10 else f"{per_second:.2g}"}


def iso(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Where something is, in words: which queues of which topic on which broker.
def place(topic: str, broker: str, ids: Sequence[int]) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–3, 6, 7)`."""
    words = {"n": count(len(ids)), "ids": _spans(ids), "topic": topic, "broker": broker}
    template = ngettext(
        "queue %(ids)s of %(topic)s on %(broker)s", "%(n)s queues of %(topic)s on %(broker)s (%(ids)s)", len(ids)
    )
    return template % words


def _spans(ids: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for queue_id in sorted(ids):
        if spans and queue_id == spans[-1][-1] + 1:
            spans[-1].append(queue_id)
        else:
            spans.append([queue_id])
    return ", ".join(f"{span[0]}–{span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans)
