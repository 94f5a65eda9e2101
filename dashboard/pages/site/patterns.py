"""Every component of the pages in every state, side by side: to look at after a change of style. For staff only."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from consumers.groups.health import HealthCode, HealthReason, Reason, shown
from consumers.groups.rows import Anomaly, GroupRow, IncidentCounts
from consumers.models import (
    DeliveryStatus,
    GroupKind,
    HealthLevel,
    IncidentStatus,
    ResetOutcome,
    ResetStatus,
    Severity,
    State,
    TimeLagKind,
)
from consumers.queries.limits import Freshness
from consumers.vocabulary.states import Flag, UnknownReason
from consumers.words.reasons import reason_words
from consumers.words.states import FLAGS
from dashboard.figures.offset_bars import reset_bar, stores_bar
from dashboard.figures.time_bars import Mark, change_strip
from dashboard.pages.common.frame import context, frame_of, page
from dashboard.wording.codes import FRESHNESS

LINES = {
    gettext_lazy("growing"): [10 * i for i in range(30)],
    gettext_lazy("at zero"): [0] * 30,
    gettext_lazy("with a gap"): [120 if i % 7 else 300 for i in range(12)] + [None] * 6 + [200] * 12,
    gettext_lazy("known once"): [None] * 10 + [400] + [None] * 10,
    gettext_lazy("unknown"): [],
}
OFFSETS = {
    gettext_lazy("in the middle"): (0, 400, 1_000),
    gettext_lazy("caught up"): (0, 1_000, 1_000),
    gettext_lazy("one behind"): (0, 999, 1_000),
    gettext_lazy("expired"): (500, 200, 1_000),
    gettext_lazy("empty queue"): (0, 0, 0),
    gettext_lazy("unknown"): (0, None, 1_000),
}
# Of the file, the broker's memory, the client's, and the end of what the client holds.
STORES = {
    gettext_lazy("apart"): (90, 100, 112, 140),
    gettext_lazy("agree"): (100, 100, 100, 100),
    gettext_lazy("without a file"): (None, 100, 112, 140),
    gettext_lazy("file ahead"): (160, 100, 112, 140),
    gettext_lazy("unknown"): (90, 100, None, None),
}


# Of min, max, where it stands and its target.
RESETS = {
    gettext_lazy("back"): (0, 1_000, 900, 100),
    gettext_lazy("ahead"): (0, 1_000, 100, 900),
    gettext_lazy("at target"): (0, 1_000, 500, 500),
    gettext_lazy("message gone"): (500, 1_000, 200, 500),
    gettext_lazy("no commit"): (0, 1_000, None, 100),
    gettext_lazy("unknown"): (None, None, None, None),
}


@page
def patterns(request: HttpRequest) -> HttpResponse:
    if not request.user.is_staff:
        raise PermissionDenied
    frame = frame_of(request, timezone.now())
    return render(request, "common/patterns.html", context(frame, **examples(frame.now)))


def examples(now: datetime) -> dict[str, Any]:
    return {
        "states": list(State),
        "kinds": _kinds(now),
        "levels": [(level, FRESHNESS[level]) for level in Freshness],
        "rows": _rows(now),
        "lines": LINES.items(),
        "anomalous": {
            "anomalies": _anomalies(now),
            "unknown": {"anomalies": _("broker-b could not be read: timed out")},
        },
        "offsets": [(name, _Offsets(*three)) for name, three in OFFSETS.items()],
        "stores": [(name, stores_bar(*four)) for name, four in STORES.items()],
        "resets": [(name, reset_bar(*four)) for name, four in RESETS.items()],
        "reset_statuses": list(ResetStatus),
        "reset_outcomes": list(ResetOutcome),
        "severities": list(Severity),
        "incident_statuses": list(IncidentStatus),
        "delivery_statuses": list(DeliveryStatus),
        "moments": [now, now - timedelta(seconds=6), now - timedelta(minutes=41), now - timedelta(days=2), None],
        "health": list(HealthLevel),
        "strip": change_strip(
            [Mark(now - timedelta(minutes=6 * i, seconds=20 * i), state, _("an example of %s") % state, "#strip")
             for i, state in enumerate(State)],
            now - timedelta(hours=1), now, _("An example of changes"),
        ),
    }  # fmt: skip


def _kinds(now: datetime) -> list[GroupRow]:
    """A group of each kind, alone and at rest where that kind is."""
    known = _rows(now)[0][1]
    return [
        replace(
            known,
            group=flag,
            state=State.OK,
            health=HealthLevel.OK,
            health_reasons=(),
            online=False,
            flags=(flag,),
            flag_reasons={flag: _("why it is %s") % FLAGS[flag]},
        )
        for flag in Flag
    ]


def _anomalies(now: datetime) -> list[Anomaly]:
    begun = Anomaly("expired_unread", "Orders", "broker-a", (3,), now - timedelta(minutes=12),
                    _("an example that began at a known time"), _("What to do about it."))  # fmt: skip
    return [begun, replace(begun, name="members_gone", since=None, sentence=_("an example that nobody saw begin"))]


def _reasons() -> tuple[HealthReason, ...]:
    dead = Reason(HealthCode.DLQ_INFLOW, HealthLevel.WARNING, {"day_messages": 300, "per_minute": 5})
    return (shown(Reason(HealthCode.STATE, HealthLevel.WARNING, {"state": State.WARN.value})), shown(dead))


class _Offsets:
    def __init__(self, min_offset: int | None, consumer_offset: int | None, broker_offset: int | None) -> None:
        self.min_offset, self.consumer_offset, self.broker_offset = min_offset, consumer_offset, broker_offset


def _rows(now: datetime) -> list[tuple[str, GroupRow]]:
    known = GroupRow(
        id=0, cluster="prod", group="billing", kind=GroupKind.USER, state=State.WARN, stale=False,
        state_detail=_("an example"), since=now,
        health=HealthLevel.WARNING, health_reasons=_reasons(), flags=(), flag_reasons={},
        completeness=0.75, lag_messages=52_118, lag_messages_at_least=52_118,
        never_committed_queues=0, lost_queues=0, time_lag_seconds=192.0, time_lag_kind=TimeLagKind.INTERPOLATED,
        consume_rate=80.0, time_lag_at=now - timedelta(seconds=20),
        produce_rate=0.04, drain_seconds=4_080.0, members=2, online=True, message_model="CLUSTERING",
        consume_type="CONSUME_PASSIVELY", retry_rate=0.0, retry_share=0.004, dlq_messages=312, dlq_day_messages=12,
        expired_messages=0,
        last_rebalance_at=now - timedelta(minutes=12),
        open_incidents=IncidentCounts(1, 0, 1, 0, 0),
        taken_at=now - timedelta(seconds=6),
        judged_at=now - timedelta(seconds=20), unknown_reason=None, unknown={},
    )  # fmt: skip
    idle = replace(known, lag_messages=0, time_lag_seconds=0.0, time_lag_kind=TimeLagKind.EXACT, drain_seconds=None,
                   time_lag_at=known.taken_at, unknown={"drain_seconds": _("nothing to drain")})  # fmt: skip
    partly = replace(known, lag_messages=None, lag_messages_at_least=9_120, time_lag_kind=TimeLagKind.AT_LEAST,
                     drain_seconds=None, unknown_reason=_("broker-b could not be read: connection refused"),
                     taken_at=now - timedelta(minutes=46),
                     unknown={"drain_seconds": _("the lag is unknown")})  # fmt: skip
    judged = ("time_lag_seconds", "time_lag_at", "consume_rate", "produce_rate", "drain_seconds", "retry_rate",
              "retry_share", "dlq_day_messages", "completeness")  # fmt: skip
    blank: dict[str, Any] = dict.fromkeys((*judged, "members", "dlq_messages", "lag_messages_at_least"))
    unread = replace(partly, **blank, unknown=dict.fromkeys(blank, _("broker-b could not be read: connection refused")))
    never = replace(
        unread,
        unknown_reason=reason_words(UnknownReason.NEVER_COMMITTED),
        unknown_reason_code=UnknownReason.NEVER_COMMITTED,
        unknown=dict.fromkeys(blank, _("not evaluated yet")),
    )
    return [(_("known"), known), (_("no lag"), idle), (_("partly unknown"), partly), (_("not scraped"), unread),
            (_("never committed"), never)]  # fmt: skip
