"""Title and body of a message, by the channel's templates or the site's own."""

import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumers.alerts.subjects import Subject
from consumers.models import Channel, SubjectKind

from .default_words import BODY, TITLE
from .payload import Payload
from .templates import TemplateFailed, own_words, rendered

LONGEST_TITLE = 250
LONGEST_BODY = 20_000
TIMES = ("started_at", "fired_at", "resolved_at", "unknown_since")


@dataclass(frozen=True)
class Rendered:
    """`note`: why the site's own words stand there although the channel has a template, or None."""

    title: str
    body: str
    note: str | None = None


def render(payload: Payload, channel: Channel, named: int) -> Rendered:
    """`named`: so many changes are there by name; the others are counted."""
    title, title_note = _filled(channel.title_template, TITLE, payload, named)
    body, body_note = _filled(channel.body_template, BODY, payload, named)
    notes = [note for note in (title_note, body_note) if note]
    return Rendered(_one_line(title), _short(body.strip(), LONGEST_BODY), " ".join(notes) or None)


def template_context(payload: Payload, named: int) -> dict[str, Any]:
    """The payload, with times as times and at most `named` of its events, and counts beside it."""
    told = copy.deepcopy({**payload, "events": payload["events"][:named]})
    for event in told["events"]:
        event["at"] = datetime.fromisoformat(event["at"])
        incident = event["incident"]
        incident |= {name: _time(incident[name]) for name in TIMES}
        incident["subject"]["title"] = _title(incident["subject"])
    kinds = [event["kind"] for event in payload["events"]]
    counts = {kind: kinds.count(kind) for kind in ("firing", "resolved")}
    return told | counts | {"count": len(kinds), "count_less_one": len(kinds) - 1, "others": max(len(kinds) - named, 0)}


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _title(subject: dict[str, str]) -> str:
    kind = SubjectKind(subject["kind"])
    return Subject(kind, subject["cluster"], subject["broker"], subject["group"], subject["topic"]).title


def _filled(template: str, own: str, payload: Payload, named: int) -> tuple[str, str | None]:
    """Each sees a context of its own: a template may empty what it is given."""
    if not template.strip():
        return own_words(own, template_context(payload, named)), None
    try:
        return rendered(template, template_context(payload, named)), None
    except TemplateFailed as error:
        return own_words(own, template_context(payload, named)), str(error)


def _one_line(title: str) -> str:
    """Titles are headers of mails: no line may begin in one."""
    return _short(" ".join(title.split()), LONGEST_TITLE)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
