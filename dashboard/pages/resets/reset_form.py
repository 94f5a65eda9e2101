"""What somebody types into the form that plans a reset, and the wish that it makes. Nothing is asked of a cluster."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from consumers.models import ResetKind
from consumers.resets.offset_csv import MOST_BYTES, offsets_in
from consumers.resets.request import LONGEST_REASON
from consumers.resets.targets.reset_targets import OFFERED, TARGETS, Typed, value_of
from consumers.resets.targets.values import ValueRefused
from consumers.resets.wish import Wish
from dashboard.pages.common.durations import seconds_of
from dashboard.pages.common.moments import read_moment

from .reset_where import WrongPlace, queue_of

NEEDED = _("This is needed for the target that is chosen.")
# By kind the field of its value; the others need none.
FIELDS = {code: target.field for code, target in OFFERED.items() if target.field}


class ResetForm(forms.Form):
    """Only the value of the chosen kind is looked at. `wish()` once it is valid."""

    kind = forms.ChoiceField(
        choices=[(kind.value, kind.value) for kind in OFFERED],
        error_messages={"required": _("Choose where the group shall go on.")},
    )
    csv_file = forms.FileField(required=False)
    clip = forms.BooleanField(required=False)
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": _("Say why: the reason is kept with the reset.")}
    )

    def __init__(self, now: datetime, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.now = now
        self.value: Any = None
        for target in OFFERED.values():
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
                said = READERS[TARGETS[kind].typed](cleaned, name) if name else None
                self.value = value_of(kind, said, self.now)
            except ValueRefused as wrong:
                # A list has a line for each of its faults.
                self.add_error(name, str(wrong).splitlines())
            except forms.ValidationError as wrong:
                self.add_error(name, wrong)
        if any("\0" in word for name in ("topic", "broker", "queue") for word in self._listed(name)):
            # No database keeps them. In fields of the form Django refuses them.
            self.add_error(None, _("A name that was chosen holds a zero byte: choose it anew."))
        if any(not word.strip() for name in ("broker", "queue") for word in self._said(name)):
            # Left out it would be all of them.
            self.add_error(None, _("A broker or queue that was chosen has no name: choose it anew."))
        try:
            self.queues = tuple(queue_of(place) for place in self._listed("queue"))
        except WrongPlace as wrong:
            self.add_error(None, str(wrong))
        return cleaned

    def wish(self) -> Wish:
        said = self.cleaned_data
        return Wish(
            kind=ResetKind(said["kind"]),
            value=self.value,
            reason=said["reason"],
            topics=self._listed("topic") or None,
            brokers=self._listed("broker") or None,
            queues=self.queues or None,
            clip=said["clip"],
        )

    def _listed(self, name: str) -> tuple[str, ...]:
        """Without doubles, in the order in which they came."""
        return tuple(dict.fromkeys(word.strip() for word in self._said(name) if word.strip()))

    def _said(self, name: str) -> Sequence[str]:
        data = self.data
        return data.getlist(name) if isinstance(data, QueryDict) else data.get(name, [])


def _text(said: dict[str, Any], name: str) -> str:
    text = str(said.get(name) or "").strip()
    if not text:
        raise forms.ValidationError(NEEDED)
    return text


def _moment(said: dict[str, Any], name: str) -> str:
    text = _text(said, name)
    at = read_moment(text)
    return text if at is None else at.isoformat()


def _length(said: dict[str, Any], name: str) -> float:
    seconds = seconds_of(_text(said, name))
    if seconds is None:
        raise forms.ValidationError(_("Write a length of time as 90 s, 30 min, 2 h or 1 d."))
    return seconds


def _list(said: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """What was pasted, or a file in its place."""
    file, pasted = said.get("csv_file"), said.get(name, "")
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
