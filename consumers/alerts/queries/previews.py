"""Previews of rules as rows."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.preview.stored import worded_result
from consumers.models import (
    UNFINISHED_PREVIEWS,
    AlertRule,
    Comparison,
    Measure,
    PreviewStatus,
    RulePreview,
    SubjectKind,
)
from consumers.queries.declared import answer, answered, public
from consumers.words.reasons import stored_words


@answer(
    "`result` counts how often the rule would have fired, and says how much of the past is not known.",
    name="AlertPreview",
    last=("from",),
)
@dataclass(frozen=True, kw_only=True)
class PreviewRow:
    """`ahead` is null of what does not wait, `result` until it is done: see consumers.alerts.preview.result."""

    id: str = field(metadata=public(of=UUID))
    status: str = field(metadata=public(of=PreviewStatus))
    rule: dict[str, Any] = field(metadata=public("As it was asked about"))
    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    by: str | None
    created_at: datetime
    ahead: int | None = field(metadata=public("Others that come first"))
    started_at: datetime | None
    finished_at: datetime | None
    cancelled_by: str | None
    seconds: float | None
    result: dict[str, Any] | None = field(
        metadata=public(
            "{fired, fired_excluded, known_from, known_to, known_seconds, unknown_seconds, unknown_spans, subjects, "
            "fired_subjects, unknown_subjects, unknown_share, unknown_share_in_data, step_seconds, incidents, "
            "left_out, by_subject, per_day, evaluated, notes, unknown}"
        )
    )
    error: str | None
    unknown: dict[str, str] = field(default_factory=dict)


def find_preview(preview_id: UUID) -> PreviewRow | None:
    preview = RulePreview.objects.select_related("by").filter(pk=preview_id).first()
    if preview is None:
        return None
    return answered(
        PreviewRow,
        preview,
        _reasons(preview),
        id=str(preview.pk),
        by=preview.by.get_username() if preview.by else None,
        error=stored_words(preview.error),
        result=preview.result and _with_notes(preview.rule, preview.result),
        ahead=_ahead(preview),
        cancelled_by=preview.cancelled_by_name,
    )


def _with_notes(rule: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return worded_result(result) | {"notes": _notes(AlertRule(**rule), result["step_seconds"])}


def unfinished_of(user: Any) -> UUID | None:
    """The preview of theirs that waits or runs: nobody has two."""
    return RulePreview.objects.filter(by=user, status__in=UNFINISHED_PREVIEWS).values_list("pk", flat=True).first()


def _ahead(preview: RulePreview) -> int | None:
    if preview.status != PreviewStatus.WAITING:
        return None
    others = RulePreview.objects.filter(status__in=UNFINISHED_PREVIEWS, created_at__lt=preview.created_at)
    return others.exclude(pk=preview.pk).count()


def _reasons(preview: RulePreview) -> dict[str, str]:
    """Of each field why it is null."""
    not_done = _("not finished")
    no_result = not_worked_on = not_done
    if preview.status == PreviewStatus.FAILED:
        no_result, not_worked_on = stored_words(preview.error) or not_done, _("not completed")
    elif preview.status == PreviewStatus.CANCELLED:
        no_result = not_worked_on = _("cancelled")
    is_waiting = preview.status == PreviewStatus.WAITING
    return {
        "by": _("the account of the requester was removed"),
        "ahead": _("not waiting"),
        "started_at": _("no worker has started it yet") if is_waiting else _("no worker is known to have started it"),
        "finished_at": not_done,
        "cancelled_by": _("not cancelled"),
        "seconds": not_worked_on,
        "result": no_result,
        "error": _("no error"),
    }


def _notes(rule: AlertRule, step_seconds: int) -> list[str]:
    """Returns what to know of a preview besides its numbers, in the language of the request."""
    spec = SPECS[Measure(rule.measure)]
    sentences = [_("A condition that was met before the range counts from the start of the range.")]
    if step_seconds > 60:
        words = {"minutes": step_seconds // 60}
        sentences.append(
            _(
                "Uses one window in %(minutes)s minutes, because the selection is large: shorter conditions may "
                "be missed. Choose a shorter range or fewer groups to use every minute."
            )
            % words
        )
    if rule.comparison == Comparison.IN:
        sentences.append(
            _(
                "The state of an offset that does not move counts from its last move, any other state from "
                "its evaluation."
            )
        )
    if spec.note:
        sentences.append(str(spec.note))
    if rule.labels or rule.overrides:
        sentences.append(_("Uses today's notes and labels."))
    if spec.subject == SubjectKind.GROUP and not spec.knows_exclusions:
        sentences.append(_("Whether a group is paused, or offline by habit, is known for today only."))
    return sentences
