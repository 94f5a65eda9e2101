"""Planning a reset: the form, and the plan."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

from consumers.groups.detail import queue_list, topic_rows
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import TopicRow
from consumers.jobs.asking import RedisDown
from consumers.jobs.permissions import check
from consumers.models import ConsumerGroup, Reset, ResetKind, TopicKind
from consumers.resets.offset_csv import MOST_BYTES, offsets_in
from consumers.resets.request import LONGEST_REASON, MAY_RESET, request_plan, why_not_planned
from consumers.resets.reset_targets import OFFERED, TARGETS, ResetTarget, Typed, value_of
from consumers.resets.target_values import Asker, QueueKey, ResetRefused, ResetRequest, ValueRefused
from consumers.resets.tasks import enqueue_plan
from consumers.words.times import read_time
from dashboard.pages.common.frame import context, form_page, frame_of, group_or_404, tabs
from dashboard.pages.common.list_pages import SHORT, whole_number
from dashboard.pages.common.moments import seconds_of

# The topics, brokers and queues that a reset can select, with the lag of each by the newest scrape.
# More are not listed: they are named by hand, or chosen by their topic and broker.
TOPICS, BROKERS, QUEUES = 100, 100, 200


class WrongPlace(ValueError):
    """str() is one sentence."""


@dataclass(frozen=True)
class TopicBox:
    row: TopicRow
    is_retry: bool
    chosen: bool


@dataclass(frozen=True)
class BrokerBox:
    name: str
    queues: int
    chosen: bool


@dataclass(frozen=True)
class QueueBox:
    row: QueueRow
    place: str
    chosen: bool


@dataclass(frozen=True)
class Where:
    """The first are those with the most lag. `more_…`: how many are not listed.

    `named…`: chosen ones that are not listed. The form sends them again: left out they would be all.
    """

    topics: list[TopicBox]
    brokers: list[BrokerBox]
    queues: list[QueueBox]
    more_topics: int
    more_brokers: int
    more_queues: int
    named: list[str]
    named_brokers: list[str]
    named_queues: list[str]

    @property
    def some_queue_is_chosen(self) -> bool:
        return bool(self.named_queues) or any(box.chosen for box in self.queues)


def where(
    group: ConsumerGroup, topics: Sequence[str], brokers: Sequence[str], queues: Sequence[str], now: datetime
) -> Where:
    """`topics`, `brokers` and `queues` are chosen so far; queues as `place_of` writes them."""
    rows = [row for row in queue_list(group.cluster.name, group.name, now=now) if row.kind != TopicKind.DLQ]
    boxes = [
        TopicBox(row, row.kind == TopicKind.RETRY, row.topic in topics)
        for row in sorted(topic_rows(rows, {}), key=_most_lag)
    ]
    of_brokers = Counter(row.broker for row in rows)
    near = sorted((row for row in rows if not topics or row.topic in topics), key=_most_lag)
    places = [QueueBox(row, place_of(row), place_of(row) in queues) for row in near]
    known = {box.row.topic for box in boxes[:TOPICS]}
    shown_brokers, shown_queues = sorted(of_brokers)[:BROKERS], _chosen_first(places)[:QUEUES]
    return Where(
        topics=boxes[:TOPICS],
        brokers=[BrokerBox(name, of_brokers[name], name in brokers) for name in shown_brokers],
        queues=shown_queues,
        more_topics=max(0, len(boxes) - TOPICS),
        more_brokers=max(0, len(of_brokers) - BROKERS),
        more_queues=max(0, len(places) - QUEUES),
        named=[topic for topic in topics if topic not in known],
        named_brokers=_others(brokers, shown_brokers),
        named_queues=_others(queues, [box.place for box in shown_queues]),
    )


def place_of(row: QueueRow) -> str:
    return f"{row.topic}/{row.broker}/{row.queue_id}"


def queue_of(place: str) -> QueueKey:
    """The reverse of `place_of`. Raises WrongPlace."""
    topic, _first, rest = place.partition("/")
    broker, _second, queue_id = rest.rpartition("/")
    number = whole_number(queue_id, SHORT)
    if not (topic and broker) or number is None:
        raise WrongPlace(gettext("“%s” is not a queue: write topic/broker/id.") % place)
    return QueueKey(topic, broker, number)


def _others(chosen: Iterable[str], shown: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(chosen) if name not in shown]


def _chosen_first(boxes: Iterable[QueueBox]) -> list[QueueBox]:
    return sorted(boxes, key=lambda box: not box.chosen)


def _most_lag(row: TopicRow | QueueRow) -> tuple[int, str]:
    """Unknown lag first: it may be the worst."""
    return (-row.lag_messages if row.lag_messages is not None else -(2**63), row.topic)


# What somebody enters into the form that plans a reset, and the request made of it. Nothing is asked of a cluster.
NEEDED = _("The chosen target needs this field.")

# By kind the field of its value; the others need none.
FIELDS = {code: target.field for code, target in OFFERED.items() if target.field}


class ResetForm(forms.Form):
    """Only the value of the chosen kind is looked at. `requested()` once it is valid."""

    csv_file = forms.FileField(required=False)
    clip = forms.BooleanField(required=False)
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": _("Enter a reason: it is stored with the reset.")}
    )

    def __init__(self, now: datetime, *args: Any, targets: Mapping[ResetKind, ResetTarget] = OFFERED, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.now = now
        self.targets = targets
        self.value: Any = None
        self.fields["kind"] = forms.ChoiceField(
            choices=[(kind.value, kind.value) for kind in targets],
            error_messages={"required": _("Choose a target.")},
        )
        for target in targets.values():
            if target.field:
                is_list = target.typed is Typed.LIST
                self.fields[target.field] = forms.CharField(
                    required=False, strip=not is_list, max_length=MOST_BYTES if is_list else target.longest
                )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "kind" in cleaned:
            kind = ResetKind(cleaned["kind"])
            name = FIELDS.get(kind)
            try:
                entered = READERS[TARGETS[kind].typed](cleaned, name) if name else None
                self.value = value_of(kind, entered, self.now)
            except ValueRefused as wrong:
                # A list has a line for each of its faults.
                self.add_error(name, str(wrong).splitlines())
            except forms.ValidationError as wrong:
                self.add_error(name, wrong)
        if any(not word.strip() for name in ("broker", "queue") for word in self._listed_values(name)):
            # Left out it would be all of them.
            self.add_error(None, _("A chosen broker or queue has no name: choose it again."))
        try:
            self.queues = tuple(queue_of(place) for place in self._listed("queue"))
        except WrongPlace as wrong:
            self.add_error(None, str(wrong))
        return cleaned

    def requested(self) -> ResetRequest:
        fields = self.cleaned_data
        return ResetRequest(
            kind=ResetKind(fields["kind"]),
            value=self.value,
            reason=fields["reason"],
            topics=self._listed("topic") or None,
            brokers=self._listed("broker") or None,
            queues=self.queues or None,
            clip=fields["clip"],
        )

    def _listed(self, name: str) -> tuple[str, ...]:
        """Without doubles, in the order in which they came."""
        return tuple(dict.fromkeys(word.strip() for word in self._listed_values(name) if word.strip()))

    def _listed_values(self, name: str) -> Sequence[str]:
        data = self.data
        return data.getlist(name) if isinstance(data, QueryDict) else data.get(name, [])


def _text(fields: dict[str, Any], name: str) -> str:
    text = str(fields.get(name) or "").strip()
    if not text:
        raise forms.ValidationError(NEEDED)
    return text


def _moment(fields: dict[str, Any], name: str) -> str:
    text = _text(fields, name)
    at = read_time(text)
    return text if at is None else at.isoformat()


def _length(fields: dict[str, Any], name: str) -> float:
    seconds = seconds_of(_text(fields, name))
    if seconds is None:
        raise forms.ValidationError(_("Write a length of time as 90 s, 30 min, 2 h or 1 d."))
    return seconds


def _list(fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """What was pasted, or a file in its place."""
    file, pasted = fields.get("csv_file"), fields.get(name, "")
    if file is not None and pasted.strip():
        raise forms.ValidationError(_("There are two lists: choose a file or paste one, not both."))
    if file is None and not pasted.strip():
        raise forms.ValidationError(NEEDED)
    if file is not None and file.size > MOST_BYTES:
        # Before it is read into memory.
        raise forms.ValidationError(_("The file is longer than %s bytes.") % MOST_BYTES)
    return offsets_in(pasted if file is None else file.read()).entries


READERS: dict[Typed, Callable[[dict[str, Any], str], Any]] = {
    Typed.WORD: _text,
    Typed.TIME: _moment,
    Typed.LENGTH: _length,
    Typed.LIST: _list,
}


# Plans a reset: where to, of which queues, and why. Planning changes nothing: brokers are asked, and a plan is kept.
#
# Other pages link here with what is known already: kind, value, topic, broker, queue, reason, clip.
# The targets that a reset can have, as the form offers them: in plain words, with what they cost.


@dataclass(frozen=True)
class KindLine:
    """One choice. `field` is the input of its value, if it has one; `errors` what is wrong with the typed value."""

    name: str
    label: str | Promise
    meaning: str | Promise
    chosen: bool
    field: str
    value: str
    hint: str | Promise
    errors: list[str]


def kind_lines(form: ResetForm) -> list[KindLine]:
    return list(_lines(form))


def _lines(form: ResetForm) -> Iterable[KindLine]:
    chosen = form["kind"].value()
    for kind, target in form.targets.items():
        field = target.field
        value = form[field].value() if field else ""
        errors = [str(error) for error in form.errors.get(field, [])] if field else []
        yield KindLine(
            kind.value, target.label, target.meaning, kind == chosen, field, value or "", target.hint, errors
        )


GROUPS = 500


@form_page
def reset_plan(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _shown(request, found, ResetForm(timezone.now(), initial=_prefilled(request)))
    check(request.user, MAY_RESET, cluster)
    now = timezone.now()
    form = ResetForm(now, request.POST, request.FILES)
    if not form.is_valid():
        return _shown(request, found, form, status=400)
    try:
        made = request_plan(cluster, group, form.requested(), asker_of(request), now)
    except ResetRefused as refusal:
        return _shown(request, found, form, refusal=str(refusal), status=409)
    ask_for_plan(made)
    return HttpResponseRedirect(reverse("reset", args=[made.pk]))


def ask_for_plan(reset: Reset) -> None:
    """Where Redis is down the reset is refused with that reason, which its page shows."""
    with suppress(RedisDown):
        enqueue_plan(reset.pk)


def asker_of(request: HttpRequest) -> Asker:
    return Asker(request.user, request.META.get("REMOTE_ADDR"), "page")


def _prefilled(request: HttpRequest) -> dict[str, Any]:
    """What a link says. A kind that is none is left out: nothing is chosen then."""
    query = request.GET
    kind = query.get("kind", "")
    known: dict[str, Any] = {"reason": query.get("reason", ""), "clip": query.get("clip") == "1"}
    if kind not in OFFERED:
        return known
    name = FIELDS.get(ResetKind(kind))
    return known | {"kind": kind} | ({name: query.get("value", "")} if name else {})


def _shown(
    request: HttpRequest, group: ConsumerGroup, form: ResetForm, refusal: str = "", status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    cluster = group.cluster.name
    query = request.POST if request.method == "POST" else request.GET
    topics, brokers, queues = (query.getlist(name) for name in ("topic", "broker", "queue"))
    others = ConsumerGroup.objects.filter(cluster=group.cluster).exclude(pk=group.pk).order_by("name")
    shown = {
        "group": group,
        "form": form,
        "kinds": kind_lines(form),
        "reason": form["reason"].value() or "",
        "clip": form["clip"].value(),
        "where": where(group, [topic for topic in topics if topic], brokers, queues, frame.now),
        "problems": form_problems(form, refusal),
        "other_groups": others.values_list("name", flat=True)[:GROUPS],
        "against": why_not_planned(group, request.user),
        "tabs": tabs(frame, cluster, group.name),
        "group_href": frame.group(cluster, group.name),
        "resets_href": frame.to("group_resets", cluster, group.name),
    }
    return render(request, "resets/reset_plan.html", context(frame, **shown), status=status)


def form_problems(form: ResetForm, refusal: str) -> list[tuple[str, str]]:
    """The id of the field and what is wrong with it, for the summary at the top; no id where it is of no one field."""
    found = [("", refusal)] if refusal else []
    for name, errors in form.errors.items():
        target = "" if name == NON_FIELD_ERRORS else f"field-{name}"
        found += [(target, str(error)) for error in errors]
    return found
