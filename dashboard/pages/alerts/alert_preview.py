"""A preview of a rule: its answer, asking for one, and cancelling it."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.preview.request import cancel, earliest, request_preview, why_not_permitted
from consumers.alerts.queries.previews import PreviewRow, find_preview
from consumers.alerts.queries.words import number_words, rule_words, selection_words
from consumers.alerts.tasks import enqueue_preview
from consumers.jobs.asking import RedisDown
from consumers.models import UNFINISHED_PREVIEWS, AlertRule, Measure, PreviewStatus, RulePreview
from consumers.words.marks import listed
from dashboard.pages.alerts.preview_pictures import at_of, end_of_data, pictures
from dashboard.pages.common.frame import Frame, frame_of, refreshing
from dashboard.pages.common.list_pages import whole_number
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import count, duration, minute, share as share_words, zone_name

from .alert_forms import Done, act, alert_context, done, sent
from .alert_rule import RuleForm, form_shown, rule_or_404, stored

# What a rule would have done over the past: asked for from its form. A part refreshes itself until that is known.
# What a preview found, in words.

SUBJECTS_NAMED, REASONS_NAMED = 5, 3


def preview_lines(frame: Frame, row: PreviewRow, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "result": result,
        "verdict": verdict(row, result),
        "unknown_words": unknown_words(result),
        "excluded_words": excluded_words(result),
        "step_words": step_words(result),
        "step": duration(result["step_seconds"]),
        **pictures(row, result),
        "incidents": [_line(frame, row, one, end_of_data(row, result)) for one in result["incidents"]],
        **_evaluated(frame, row, result),
    }


def verdict(row: PreviewRow, result: Mapping[str, Any]) -> str:
    """`It would have fired 3 times in 25 min of data (13:35–14:00 UTC): 2 × billing, 1 × audit. Nothing is known of the
    other 23 h 35 min.`"""
    if not result["subjects"]:
        return _("The rule selects nothing: there was nothing to evaluate.")
    if result.get("known_seconds") == 0:
        return _("No data in this range.")
    return " ".join(filter(None, (_fired_words(row, result), _no_data_words(result))))


def data_words(row: PreviewRow, result: Mapping[str, Any]) -> str:
    """For how long there was data, and from when to when where that is not all of the range."""
    if "known_seconds" not in result:
        return _("an unknown part of %s") % duration((row.until - row.since).total_seconds())
    if not result["unknown_seconds"]:
        return duration((row.until - row.since).total_seconds())
    since, until = at_of(result["known_from"]), at_of(result["known_to"])
    words = {
        "time": duration(result["known_seconds"]),
        "from": minute(since, row.until),
        "to": f"{minute(until, row.until)} {zone_name()}",
    }
    if (until - since).total_seconds() > result["known_seconds"]:
        return _("%(time)s of data (with gaps, %(from)s–%(to)s)") % words
    return _("%(time)s of data (%(from)s–%(to)s)") % words


def _no_data_words(result: Mapping[str, Any]) -> str:
    if "known_seconds" not in result:
        return _("This preview has no data coverage: preview the rule again.")
    if not result["unknown_seconds"]:
        return ""
    return _("No data for the other %s.") % duration(result["unknown_seconds"])


def _fired_words(row: PreviewRow, result: Mapping[str, Any]) -> str:
    words = {"time": data_words(row, result), "n": count(result["fired"])}
    if not result["fired"]:
        return _("It would not have fired in %(time)s, as far as known.") % words
    most = result["by_subject"][:SUBJECTS_NAMED]
    named = listed(f"{count(one['fired'])} × {one['subject']['title']}" for one in most)
    rest = result["fired"] - sum(one["fired"] for one in most)
    if rest:
        named = _("%(named)s and %(rest)s of others") % {"named": named, "rest": count(rest)}
    words["named"] = named
    return (
        ngettext(
            "It would have fired %(n)s time in %(time)s: %(named)s.",
            "It would have fired %(n)s times in %(time)s: %(named)s.",
            result["fired"],
        )
        % words
    )


def unknown_words(result: Mapping[str, Any]) -> str:
    """Returns the share of values that are unknown while other subjects have data. Returns "" where there are none."""
    share = result.get("unknown_share_in_data", result["unknown_share"])
    if not share:
        return ""
    part = share_words(share)
    sentence = _("%s of the values in the range are unknown: the rule may have fired there too.") % part
    never = result["unknown_subjects"]
    if not never:
        return sentence
    words = {"n": count(never), "all": count(result["subjects"])}
    return f"{sentence} " + _("No data for %(n)s of %(all)s.") % words


def excluded_words(result: Mapping[str, Any]) -> str:
    """Empty where nothing of what fired is of groups that the rule leaves alone."""
    alone = result.get("fired_excluded")
    if not alone:
        return ""
    reasons = sorted({one["excluded"] for one in result["by_subject"] if "excluded" in one})
    words = {"n": count(alone), "all": count(result["fired"]), "reasons": "; ".join(reasons[:REASONS_NAMED])}
    sentence = _("%(n)s of %(all)s belong to groups that the rule excludes today: %(reasons)s.") % words
    return sentence if len(reasons) <= REASONS_NAMED else sentence[:-1] + " …"


def step_words(result: Mapping[str, Any]) -> str:
    """Empty where every minute was looked at."""
    seconds = result["step_seconds"]
    return "" if seconds <= 60 else _("Evaluated once per %s: shorter conditions may be missing.") % duration(seconds)


def evaluated_words(row: PreviewRow, found: Mapping[str, Any]) -> str:
    """Returns what the stored rule did in that time, compared with the replay."""
    words = {"n": count(found["fired"]), "name": row.rule["name"]}
    sentence = (
        ngettext(
            "%(name)s, as evaluated then, fired %(n)s time in this range",
            "%(name)s, as evaluated then, fired %(n)s times in this range",
            found["fired"],
        )
        % words
    )
    if before := found["fired_before"]:
        sentence += ", " + _("and %s went on from before") % count(before)
    missed, more = found["only_evaluated"] + found["elsewhere"], found["only_replayed"]
    if not missed and not more:
        return sentence + ". " + _("The replay finds the same.")
    return f"{sentence}. " + _("Missing in the replay: %(missed)s. Only in the replay: %(more)s.") % {
        "missed": count(missed) if missed else _("none"),
        "more": count(more) if more else _("none"),
    }


def _line(frame: Frame, row: PreviewRow, one: Mapping[str, Any], end: datetime) -> dict[str, Any]:
    subject, fired, resolved = one["subject"], at_of(one["fired_at"]), at_of(one["to"])
    worst = one["worst_value"]
    return {
        "title": subject["title"],
        "cluster": subject.get("cluster", ""),
        "href": frame.group(subject["cluster"], subject["group"]) if "group" in subject else "",
        "began": at_of(one["from"]),
        "fired": fired,
        "over": resolved,
        "lasted": duration(((resolved or end) - fired).total_seconds()),
        "excluded": one.get("excluded", ""),
        "worst": "" if worst is None else number_words(row.rule["measure"], worst),
    }


def _evaluated(frame: Frame, row: PreviewRow, result: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing where no rule of that name is kept."""
    found = result.get("evaluated")
    if found is None:
        return {}
    return {
        "evaluated_words": evaluated_words(row, found),
        "reasons": found["reasons"],
        "evaluated_href": frame.to("alerts", rule=str(found["rule"])),
    }


HOURS = ("24", "168")

LONGEST_QUERY = 4000

# By then a worker has taken it up, where one has nothing else to do.
LONG = timedelta(seconds=15)

# By then a worker that lives has ended it, in time or not.
TOO_LONG = timedelta(seconds=90)


@act
def alert_previews(request: HttpRequest) -> HttpResponse:
    posted, now = request.POST, timezone.now()
    number = whole_number(posted.get("rule", ""))
    row = None if number is None else rule_or_404(number)
    hours = posted.get("hours", "")
    if hours not in HOURS:
        raise UnknownFilter("hours", hours, HOURS)
    form = RuleForm(posted)
    since = _kept_since(form.measure, now - timedelta(hours=int(hours)), now)

    def ask(fields: Mapping[str, Any]) -> Done:
        return Done(_enqueued(request_preview(fields, since, now, request.user, now).pk))

    return sent(request, form, ask, partial(form_shown, request, row, form))


def _kept_since(measure: Measure, since: datetime, now: datetime) -> datetime:
    """No earlier than its past reaches: the page says from when on it was looked at."""
    return max(since, earliest(measure, now)) if SPECS[measure].past else since


def _enqueued(preview: UUID) -> str:
    """Where Redis is down the preview has failed with that reason, which its page shows."""
    with suppress(RedisDown):
        enqueue_preview(preview)
    return reverse("alert_preview", args=[preview])


def preview_context(request: HttpRequest, preview: UUID, errors: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`errors`: why what was asked of it is not done, by "", as there are no fields."""
    frame = frame_of(request, timezone.now())
    row = find_preview(preview)
    if row is None:
        raise Http404(_("There is no such preview."))
    rule = AlertRule(**row.rule)
    selected = selection_words(
        cluster=rule.cluster, group_pattern=rule.group_pattern, topic=rule.topic, labels=rule.labels
    )
    shown: dict[str, Any] = {
        "preview": row,
        "rule": rule,
        "sentence": rule_words(rule),
        "selects": selected,
        "refused": (errors or {}).get("", ""),
        "is_working": row.status in UNFINISHED_PREVIEWS,
        "may_cancel": row.status in UNFINISHED_PREVIEWS and _may_cancel(request, preview),
        "waits_long": row.status == PreviewStatus.WAITING and frame.now - row.created_at >= LONG,
        "runs_too_long": row.status == PreviewStatus.RUNNING
        and row.started_at is not None
        and frame.now - row.started_at >= TOO_LONG,
        "form_href": _form(frame, row, rule),
    }
    if row.result is not None:
        shown |= preview_lines(frame, row, row.result)
    return alert_context(frame, **shown)


alert_preview, alert_preview_part = refreshing(
    "alerts/alert_preview.html", "alerts/alert_preview_part.html", preview_context, ends=True
)


def _may_cancel(request: HttpRequest, preview: UUID) -> bool:
    found = RulePreview.objects.filter(pk=preview).first()
    return found is not None and why_not_permitted(found, request.user) is None


def _form(frame: Frame, row: PreviewRow, rule: AlertRule) -> str:
    """Returns the form with the values of the preview, for the stored rule of that name, if there is one."""
    form = RuleForm(None, stored(rule))
    fields: list[tuple[str, str]] = [("enabled", "1" if rule.enabled else "")]
    for name in form.entries:
        if name == "enabled":
            continue
        value = form.value(name)
        fields += [
            ("of_cluster" if name == "cluster" else name, one) for one in ([value] if isinstance(value, str) else value)
        ]
    rule_id = AlertRule.objects.filter(name=rule.name).values_list("pk", flat=True).first() if rule.name else None
    address = frame.to("alert_rule", str(rule_id)) if rule_id else frame.to("alert_rule_add")
    query = urlencode([(name, value) for name, value in fields if value or name not in ("note", "runbook_url")])
    return f"{address}{'&' if '?' in address else '?'}{query}" if len(query) <= LONGEST_QUERY else address


@require_POST
@login_required
def alert_preview_cancel(request: HttpRequest, preview: UUID) -> HttpResponse:
    """Cancels a preview, and shows its page again: with the reason where that was refused."""
    row = RulePreview.objects.filter(pk=preview).first()
    if row is None:
        raise Http404(_("There is no such preview."))
    if against := why_not_permitted(row, request.user):
        raise PermissionDenied(against)

    def keep() -> Done:
        cancel(row, request.user, timezone.now())
        return Done(reverse("alert_preview", args=[preview]))

    def shown(errors: Mapping[str, str], status: int = 200) -> HttpResponse:
        return render(request, "alerts/alert_preview.html", preview_context(request, preview, errors), status=status)

    return done(request, keep, shown)
