"""The targets that a reset can have, as the form offers them: in plain words, with what they cost."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.models import ResetKind

from .reset_form import FIELDS, ResetForm


@dataclass(frozen=True)
class KindLine:
    """One choice. `field` is the input of its value, if it has one, `errors` what is wrong with what is typed there."""

    name: str
    label: str | Promise
    meaning: str | Promise
    chosen: bool
    field: str
    value: str
    hint: str | Promise
    errors: list[str]


WORDS: dict[ResetKind, tuple[str | Promise, str | Promise, str | Promise]] = {
    ResetKind.TIME: (
        _("To a time"),
        _("Goes on with the first message stored then or later."),
        _("UTC, as 2026-03-14 02:14:24; another zone where it is named"),
    ),
    ResetKind.MOMENT: (
        _("Back to where this group stood at a past moment"),
        _("From the history that was kept: also where brokers have lost the offsets."),
        _("UTC, as 2026-03-14 02:14:24; another zone where it is named"),
    ),
    ResetKind.EARLIEST: (_("To the oldest message that is kept"), _("Everything that is kept comes again."), ""),
    ResetKind.LATEST: (_("To the end"), _("Everything that waits is lost to this group."), ""),
    ResetKind.SKIP_OLDER: (
        _("Past everything older than"),
        _("Older messages are lost to this group; no queue goes back."),
        _("90 s, 30 min, 2 h or 1 d"),
    ),
    ResetKind.SHIFT: (
        _("By a number of messages"),
        _("Each queue by as many: below zero they come again, above zero they are lost to this group."),
        _("messages, as -500 or 500"),
    ),
    ResetKind.OFFSET: (_("To an offset"), _("The same number in every chosen queue."), _("a whole number from 0 on")),
    ResetKind.COPY: (
        _("To where another group stands"),
        _("Queue by queue; queues in which that group has committed nothing are left out."),
        _("a group of this cluster"),
    ),
    ResetKind.OFFSETS: (
        _("To the offsets of a list"),
        _("CSV with the columns topic, broker, queue_id and offset, as the exports have them."),
        _("pasted here, or as a file; lines without an offset are left out"),
    ),
}


def kind_lines(form: ResetForm) -> list[KindLine]:
    return list(_lines(form))


def _lines(form: ResetForm) -> Iterable[KindLine]:
    chosen = form["kind"].value()
    for kind in WORDS:
        label, meaning, hint = WORDS[kind]
        field = FIELDS.get(kind, "")
        value = form[field].value() if field else ""
        errors = [str(error) for error in form.errors.get(field, [])] if field else []
        yield KindLine(kind.value, label, meaning, kind == chosen, field, value or "", hint, errors)
