"""Previews of rules as rows."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from consumers.models import PreviewStatus, RulePreview

from .said import said


@dataclass(frozen=True, kw_only=True)
class PreviewRow:
    """`rule` is as it was asked about. `result` is null until it is done: see consumers.alerts.preview.result."""

    id: str
    status: str
    rule: dict[str, Any]
    since: datetime
    until: datetime
    by: str | None
    created_at: datetime
    finished_at: datetime | None
    seconds: float | None
    result: dict[str, Any] | None
    error: str | None
    unknown: dict[str, str] = field(default_factory=dict)


def find_preview(preview_id: UUID) -> PreviewRow | None:
    preview = RulePreview.objects.select_related("by").filter(pk=preview_id).first()
    if preview is None:
        return None
    values = {
        "by": preview.by.get_username() if preview.by else None,
        "finished_at": preview.finished_at,
        "seconds": preview.seconds,
        "result": preview.result,
        "error": preview.error,
    }
    not_done = _("it is not done yet")
    has_failed = preview.status == PreviewStatus.FAILED
    why = {
        "by": _("whoever asked has no account any more"),
        "finished_at": not_done,
        "seconds": _("it was not worked on to its end") if has_failed else not_done,
        "result": preview.error or not_done,
        "error": _("nothing went wrong"),
    }
    return PreviewRow(
        id=str(preview.pk),
        status=preview.status,
        rule=preview.rule,
        since=preview.since,
        until=preview.until,
        created_at=preview.created_at,
        **said(values, why),
    )
