"""A field that people enter, in a form or over REST: declared once, with its check.

A check takes a value as JSON gives it and returns the value to store; it raises `WrongValue`, which says what is
allowed. Serializers (consumers/alerts/rest/resource.py) and forms (dashboard/pages/alerts/alert_forms.py) are built
from these declarations.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from consumers.jobs.acts import ActRefused
from consumers.models import Comparison, Measure, Severity, State
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.words.marks import listed

# Who may change what alerts are made of, and why a change is refused.

MAY_MANAGE = "consumers.manage_alerts"


def cluster_of(pattern: str) -> str:
    """The cluster that a scope names; empty where it may take in several. Whoever has a role for that cluster alone may
    manage what has such a scope.
    """
    return "" if any(mark in pattern for mark in "*?[") else pattern


class AlertRefused(ActRefused):
    """`errors`: a sentence for each invalid field; the field "" stands for the request as a whole."""

    errors: dict[str, str]

    def __init__(self, errors: Mapping[str, str] | str) -> None:
        self.errors = {"": errors} if isinstance(errors, str) else dict(errors)
        super().__init__(
            " ".join(f"{name}: {sentence}" if name else sentence for name, sentence in self.errors.items())
        )


Words = str | Promise
Check = Callable[[Any], Any]


class WrongValue(ValueError):
    """str() is one sentence: what is allowed."""


class Shape(StrEnum):
    """The kind of a field's value: it decides the form's input and the JSON type."""

    TEXT = "text"  # one line
    LINES = "lines"  # a text of several lines
    SCOPE = "scope"  # a name or pattern; empty, and null over REST, selects everything
    PASSWORD = "password"  # one line that is never shown
    TRUTH = "truth"
    NUMBER = "number"  # or null
    SECONDS = "seconds"
    WHOLE = "whole"  # a whole number
    CHOICE = "choice"
    CHOICES = "choices"  # a list of choices; empty, and null over REST, selects all
    STATES = "states"  # a list of states, or null
    IDS = "ids"  # a list of ids; empty, and null over REST, selects all
    LABELS = "labels"
    FINDINGS = "findings"  # a list of codes and severities of findings
    LIST = "list"  # a list of texts, one on each line
    HEADERS = "headers"  # {name: value}, one `name: value` on each line
    OVERRIDES = "overrides"
    RULE = "rule"  # a row of a rule, or null for all
    TIME = "time"
    WEEKLY = "weekly"  # a window that repeats each week, or null


class _Required:
    pass


REQUIRED = _Required()


@dataclass(frozen=True, kw_only=True)
class EntryField:
    """`default`: the value where none is entered. `label` and `hint` are for the form, `help_text` for REST.

    `is_secret`: sealed, never shown again. `made`: a value that the form of a new channel suggests.
    `is_sent_along`: sent to the host that the address of a channel names.
    """

    name: str
    shape: Shape
    check: Check
    default: Any = REQUIRED
    label: Words = ""
    hint: Words = ""
    help_text: str = ""
    longest: int | None = None
    choices: Any = None
    is_secret: bool = False
    made: Callable[[], str] | None = None
    is_sent_along: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


def checks_of(fields: Sequence[EntryField]) -> dict[str, Check]:
    return {field.name: field.check for field in fields}


def defaults_of(fields: Sequence[EntryField]) -> dict[str, Any]:
    return {field.name: field.default for field in fields if not field.is_required}


def checked_fields(fields: Mapping[str, Any], checks: Mapping[str, Check]) -> tuple[dict[str, Any], dict[str, str]]:
    """The valid values, ready to be stored, and a sentence for each field that is invalid or does not exist."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, value in fields.items():
        if name not in checks:
            errors[name] = gettext("Unknown field. Allowed: %s.") % listed(checks)
            continue
        try:
            values[name] = checks[name](value)
        except WrongValue as wrong:
            errors[name] = str(wrong)
    return values, errors


LONGEST_SECONDS = 30 * 86400
LARGEST = 1e15
MOST_LABELS = 20
LONGEST_NOTE = 10_000
# The syntax that Prometheus and Alertmanager accept.
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,99}", re.ASCII)
# Characters that databases refuse in text: control characters, and lone surrogates, which JSON may contain.
NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def text(longest: int, *, required: bool = False) -> Check:
    """Checks a text of one line."""

    def check(value: Any) -> str:
        checked = _text(value, longest)
        if "\n" in checked or "\t" in checked:
            raise WrongValue(gettext("Must be one line of text."))
        if required and not checked:
            raise WrongValue(gettext("Must not be empty."))
        return checked

    return check


def lines(value: Any) -> str:
    return _text(value, LONGEST_NOTE)


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        raise WrongValue(gettext("Must be text."))
    stripped = value.replace("\r\n", "\n").strip()
    if len(stripped) > longest:
        raise WrongValue(gettext("At most %s characters are allowed.") % longest)
    if NO_TEXT.search(stripped):
        raise WrongValue(gettext("Control characters and halves of characters are not allowed."))
    return stripped


def pattern(longest: int, *, required: bool = False) -> Check:
    """Patterns with * and ?: no RocketMQ name contains a bracket, which would be a set of characters."""
    of_text = text(longest, required=required)

    def check(value: Any) -> str:
        glob = str(of_text(value))
        if "[" in glob or "]" in glob:
            raise WrongValue(gettext("A pattern may contain * for any characters and ? for one, but no brackets."))
        return glob

    return check


def topic(value: Any) -> str:
    name = str(text(255)(value))
    if any(mark in name for mark in "*?[]"):
        raise WrongValue(gettext("Must be the name of one topic, without * and ?: create a rule for each topic."))
    return name


def web_address(value: Any) -> str:
    url = str(text(500)(value))
    if not url:
        return url
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or re.search(r"\s", url):
        raise WrongValue(gettext("Must begin with http:// or https://."))
    return url


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValue(gettext("Must be true or false."))
    return value


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongValue(gettext("Must be a number."))
    if not 0 <= value <= LARGEST or math.isnan(value):
        raise WrongValue(gettext("Must be a number from 0 to %s.") % f"{LARGEST:.0e}")
    return float(value)


def number_or_null(value: Any) -> float | None:
    return None if value is None else number(value)


def seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_SECONDS:
        raise WrongValue(gettext("Must be a number of seconds from 0 to %s (30 days).") % LONGEST_SECONDS)
    return float(value)


def labels(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST_LABELS:
        raise WrongValue(gettext('Must be an object of at most %s labels, such as {"team": "payments"}.') % MOST_LABELS)
    found: dict[str, str] = {}
    for name, label in value.items():
        if not isinstance(name, str) or not LABEL_NAME.fullmatch(name):
            raise WrongValue(
                gettext(
                    "A label name may contain letters, digits and _, must not begin with a digit, and must not be "
                    "empty."
                )
            )
        try:
            found[name] = str(text(200, required=True)(label))
        except WrongValue as wrong:
            raise WrongValue(gettext("Label %(name)s: %(error)s") % {"name": name, "error": wrong}) from None
    return found


def states(value: Any) -> list[State] | None:
    """The states in order, worst first, each once."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, str) for one in value):
        raise WrongValue(gettext('Must be a list of at least one state, such as ["STOP", "STALL"].'))
    if State.UNKNOWN in value:
        raise WrongValue(gettext("An unknown state opens no incident: create a rule on unknown_seconds instead."))
    wrong = sorted({one for one in value if one not in list(State) or one == State.OK})
    if wrong:
        allowed = ", ".join(one for one in State if one not in (State.UNKNOWN, State.OK))
        raise WrongValue(
            gettext("%(states)s is not a state for rules. Allowed: %(allowed)s.")
            % {"states": listed(wrong), "allowed": allowed}
        )
    return [state for state in State if state in value]


def findings(value: Any) -> list[str]:
    """Codes and severities; `-` before a code leaves it out."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise WrongValue(
            gettext('Must be a list of finding codes and severities, such as ["critical", "-lost_offsets"].')
        )
    codes, severities = set(FindingCode), set(FindingSeverity) - {FindingSeverity.UNKNOWN}
    wrong = [one for one in value if one.removeprefix("-") not in codes and one not in severities]
    if wrong:
        raise WrongValue(
            gettext("%(code)s is neither a finding code nor one of %(severities)s.")
            % {"code": wrong[0], "severities": listed(sorted(severities))}
        )
    if value and all(one.startswith("-") for one in value):
        raise WrongValue(gettext("It only excludes findings: add a severity or a code."))
    return list(dict.fromkeys(value))


def one_of(choices: type[TextChoices]) -> Check:
    def check(value: Any) -> TextChoices:
        if not isinstance(value, str) or value not in choices.values:
            raise WrongValue(gettext("Must be one of %s.") % ", ".join(choices.values))
        return choices(value)

    return check


severity, measure, comparison = one_of(Severity), one_of(Measure), one_of(Comparison)

# Fields that rules, silences and notes share.

CLUSTER_SCOPE = EntryField(
    name="cluster",
    label=gettext_lazy("Cluster"),
    hint=gettext_lazy("empty: all"),
    shape=Shape.SCOPE,
    check=pattern(100),
    default="",
    longest=100,
)


def group_scope(hint: Words) -> EntryField:
    return EntryField(
        name="group_pattern",
        label=gettext_lazy("Groups"),
        hint=hint,
        shape=Shape.SCOPE,
        check=pattern(255),
        default="",
        longest=255,
        help_text="With * and ?",
    )


def topic_scope(hint: Words) -> EntryField:
    label = gettext_lazy("Topic")
    return EntryField(name="topic", label=label, hint=hint, shape=Shape.SCOPE, check=topic, default="", longest=255)


def labels_field(hint: Words) -> EntryField:
    return EntryField(
        name="labels", label=gettext_lazy("Labels"), hint=hint, shape=Shape.LABELS, check=labels, default={}
    )


def runbook_field(hint: Words) -> EntryField:
    return EntryField(
        name="runbook_url",
        label=gettext_lazy("Runbook"),
        hint=hint,
        shape=Shape.TEXT,
        check=web_address,
        default="",
        longest=500,
    )


def note_field(hint: Words) -> EntryField:
    return EntryField(name="note", label=gettext_lazy("Note"), hint=hint, shape=Shape.LINES, check=lines, default="")
