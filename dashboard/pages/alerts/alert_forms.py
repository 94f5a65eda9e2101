"""Forms of Alerts, made of the fields that `consumers/alerts` declares. A form only converts what was typed to values
of JSON. The checks of the fields, which REST uses too, decide what may be stored. Their sentences stand beside the
fields, as the form's own do."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, Protocol

from django import forms
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.alerts.fields import MAY_MANAGE, AlertRefused, EntryField, Shape
from consumers.jobs.permissions import check, check_somewhere, why_not
from consumers.models import AlertRule
from consumers.words.times import example_time, read_time
from dashboard.pages.common.frame import Frame, Tab, View, context, form_page as any_form_page
from dashboard.pages.common.list_pages import SHORT, VERSION, whole_number
from dashboard.pages.common.notices import confirmed

BETWEEN = re.compile(r"[,\n]")


class WrongLabels(ValueError):
    """str() is one sentence for the reader."""


def labels_of(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in BETWEEN.split(text))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise WrongLabels(_("“%s” is not a label: write team=payments, one per line.") % part)
        if found.get(name, value) != value:
            raise WrongLabels(_("The label %s is set twice, with different values.") % name)
        found[name] = value
    return found


def lines_of_labels(labels: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(labels.items()))


class TypedField(forms.CharField):
    """A value that is typed as text: `read` makes it of the text, or raises ValueError; `write` makes the text."""

    def __init__(self, read: Callable[[str], Any], write: Callable[[Any], str] = str, lines: int = 0, **options: Any):
        widget = forms.Textarea(attrs={"rows": lines}) if lines else forms.TextInput()
        super().__init__(required=False, **({"widget": widget} | options))
        self.read, self.write = read, write

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        try:
            return self.read((text or "").replace("\r\n", "\n"))
        except ValueError as wrong:
            raise forms.ValidationError(str(wrong)) from None

    def prepare_value(self, value: Any) -> str:
        if value is None:
            return ""
        return value if isinstance(value, str) else self.write(value)


class SecretField(TypedField):
    """What was typed is never shown again."""

    def bound_data(self, data: Any, initial: Any) -> str:
        return ""


class ManyField(forms.Field):
    """Several of the values that the form offers."""

    widget = forms.SelectMultiple

    def __init__(self, read: Callable[[str], Any] = str, **options: Any) -> None:
        super().__init__(required=False, **options)
        self.read = read

    def to_python(self, value: Any) -> list[Any]:
        try:
            return [self.read(one) for one in value or ()]
        except ValueError as wrong:
            raise forms.ValidationError(str(wrong)) from None

    def prepare_value(self, value: Any) -> list[str]:
        return [str(one) for one in value or ()]


def field_of(entry: EntryField) -> forms.Field:
    """The form's field for a declared one. Nothing is required here: the check says what must be given."""
    options: dict[str, Any] = {"label": entry.label, "help_text": entry.hint}
    match entry.shape:
        case Shape.TRUTH:
            return forms.BooleanField(required=False, **options)
        case Shape.CHOICES | Shape.STATES:
            return ManyField(**options)
        case Shape.IDS:
            return ManyField(_id, **options)
        case Shape.PASSWORD:
            return SecretField(str, widget=forms.PasswordInput(), **options)
        case Shape.HEADERS:
            return SecretField(_headers, widget=forms.Textarea(attrs={"rows": 3}), **options)
    read, write, lines = TYPED.get(entry.shape, (str, str, 0))
    return TypedField(read, write, lines, **options)


def _id(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise ValueError(_("“%s” is not the number of a rule.") % text)
    return number


def _headers(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, colon, value = (piece.strip() for piece in line.partition(":"))
        if not colon:
            # The line may hold a secret: it is not repeated.
            raise ValueError(_("A line of the headers has no colon: write X-Team: payments, one per line."))
        found[name] = value
    return found


def _list(text: str) -> list[str]:
    return [one for one in (piece.strip() for piece in text.replace(",", "\n").splitlines()) if one]


def _whole(text: str) -> int | str:
    """Returns text that is no number as it is: the check of the field refuses it."""
    number = whole_number(text, SHORT)
    return text if number is None else number


def _rule(text: str) -> AlertRule | None:
    if not text:
        return None
    rule = AlertRule.objects.filter(pk=whole_number(text) or 0).first()
    if rule is None:
        raise ValueError(_("There is no such rule any more: choose another one, or all."))
    return rule


def _time(text: str) -> Any:
    at = read_time(text) if text else None
    if text and at is None:
        raise ValueError(_("Not a time: write %s (UTC, unless it names a zone).") % example_time())
    return at


TYPED: dict[Shape, tuple[Callable[[str], Any], Callable[[Any], str], int]] = {
    Shape.LINES: (str, str, 3),
    Shape.LABELS: (labels_of, lines_of_labels, 2),
    Shape.LIST: (_list, "\n".join, 3),
    Shape.FINDINGS: (_list, "\n".join, 3),
    Shape.WHOLE: (_whole, str, 0),
    Shape.RULE: (_rule, str, 0),
    Shape.TIME: (_time, str, 0),
}


class AlertForm(forms.Form):
    """`data`: what was typed. Without it the form shows `stored`: a value, or the text of a link, for each field."""

    def __init__(
        self,
        entries: Sequence[EntryField],
        data: Mapping[str, Any] | None = None,
        stored: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=dict(stored or {}))
        self.entries = {entry.name: entry for entry in entries}
        for entry in entries:
            self.fields[entry.name] = self.field_of(entry)

    def field_of(self, entry: EntryField) -> forms.Field:
        return field_of(entry)

    def entered(self) -> dict[str, Any]:
        """The fields, of a form that is valid, for the checks."""
        return dict(self.cleaned_data)

    def sentences(self) -> dict[str, str]:
        """What could not be read, by field."""
        return {name: str(found[0]) for name, found in self.errors.items()}

    def value(self, name: str) -> Any:
        """Returns what was typed, else what is stored."""
        return self[name].value()

    def lines(self, errors: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """What `alerts/field.html` shows of each field."""
        return {name: self.line(entry, errors.get(name, "")) for name, entry in self.entries.items()}

    def line(self, entry: EntryField, error: str) -> dict[str, Any]:
        field = self.fields[entry.name]
        return {
            "name": entry.name,
            "label": field.label,
            "hint": field.help_text,
            "value": self.value(entry.name),
            "error": error,
            "type": getattr(field.widget, "input_type", "text"),
            "lines": field.widget.attrs.get("rows", 0),
            "code": entry.shape not in (Shape.TEXT, Shape.SCOPE) and entry.name != "note",
        }


class Shown(Protocol):
    """The same page, with a sentence for each field that is wrong; "" is none of them."""

    def __call__(self, errors: Mapping[str, str], status: int = 200) -> HttpResponse: ...


class Done(NamedTuple):
    """Where to go then, and what is confirmed there; "" where the page itself shows what was done."""

    address: str
    sentence: str = ""


def sent(
    request: HttpRequest, form: AlertForm, keep: Callable[[Mapping[str, Any]], Done], shown: Shown
) -> HttpResponse:
    """`keep` stores what was entered. 400 where something typed is wrong."""
    if not form.is_valid():
        return shown(form.sentences(), status=400)
    entered = form.entered()
    return done(request, lambda: keep(entered), shown)


def done(request: HttpRequest, act: Callable[[], Done], shown: Shown) -> HttpResponse:
    """400 where a field is refused, 409 where the act is not possible as things stand."""
    try:
        address, confirmation = act()
    except AlertRefused as refusal:
        return shown(refusal.errors, status=409 if {"", VERSION} & refusal.errors.keys() else 400)
    except IntegrityError:
        # Its checks saw another world than the one that it was to be stored in.
        sentence = _(
            "Another user saved the same name, or removed what it refers to, in the meantime: check what exists."
        )
        return shown({"": sentence}, status=409)
    return confirmed(request, address, confirmation) if confirmation else HttpResponseRedirect(address)


# Tabs of the alert pages, and who may use their forms.

# The tabs of Alerts pages, and how fresh what they say of incidents is.
# Pages that a tab leads to, by how the names of their addresses begin.
LIES_UNDER = {
    "alert_rules": ("alert_rule", "alert_preview"),
    "channels": ("channel",),
    "silences": ("silence",),
    "alert_notes": ("alert_note",),
    "alerts": ("alerts", "incident"),
}


def alert_context(frame: Frame, **more: Any) -> dict[str, Any]:
    """What every page of Alerts shows: tabs, the newest evaluation, and why somebody may only look: by default, why
    not manage what may cover several clusters.
    """
    against = why_not(frame.request.user, MAY_MANAGE, "") if "against" not in more else more.pop("against")
    return context(frame, tabs=alert_tabs(frame), evaluation=frame.evaluation, against=against or "", **more)


def alert_tabs(frame: Frame) -> list[Tab]:
    match = frame.request.resolver_match
    here = (match.url_name or "") if match else ""
    labels = (
        ("alerts", _("Incidents")),
        ("alert_rules", _("Rules")),
        ("channels", _("Channels")),
        ("silences", _("Silences")),
        ("alert_notes", _("Notes")),
    )
    return [Tab(name, label, frame.to(name), here.startswith(LIES_UNDER[name])) for name, label in labels]


# Who may open and send the forms of Alerts pages: everybody looks, who may manage alerts acts. What may be of one
# cluster is sent by whoever may manage alerts of any; consumers/alerts/ refuses it where that is another one.
def form_page(view: View) -> View:
    """A page with a form, opened by everybody, sent to the same address by who may manage alerts of all clusters."""
    return any_form_page(_guarded(view, _check_all))


def cluster_form_page(view: View) -> View:
    return any_form_page(_guarded(view, check_somewhere))


def act(view: View) -> View:
    """What is only ever sent."""
    return require_POST(login_required(_guarded(view, _check_all)))


def cluster_act(view: View) -> View:
    return require_POST(login_required(_guarded(view, check_somewhere)))


def _check_all(user: Any, permission: str) -> None:
    check(user, permission, "")


def _guarded(view: View, checked: Callable[[Any, str], None]) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST":
            checked(request.user, MAY_MANAGE)
        return view(request, *args, **kwargs)

    return answer
