"""Why a volume is not known."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.volumes import VolumeReason

from .unknown import reason_words

REASONS: dict[str, str | Promise] = {
    VolumeReason.NOT_RECORDED: _("not recorded at that time"),
    VolumeReason.PART_MISSING: _("a minute has no scrape, or is not over"),
    VolumeReason.NO_READING_BEFORE: _("no scrape close enough before this window"),
    VolumeReason.OFFSET_UNREAD: _("the offset was not read"),
    VolumeReason.CONSUMER_WENT_BACK: _("the consumer offset went back"),
    VolumeReason.SET_BY_RESET: _("a reset set the consumer offset"),
    VolumeReason.BROKER_WENT_BACK: _("the broker offset went back"),
    VolumeReason.FIRST_COMMIT: _("first commit: the start is unknown"),
    VolumeReason.NO_OWN_QUEUE: _("no queue of its own topics was read"),
    VolumeReason.TOPICS_UNREAD: _("its retry and dead-letter topics are not known yet"),
    VolumeReason.RETRY_UNREAD: _("its retry topic was not read in this window"),
    VolumeReason.DEAD_LETTERS_UNREAD: _("its dead-letter topic was not read in this window"),
    VolumeReason.NOTHING_CONSUMED: _("nothing was consumed"),
    VolumeReason.NO_WINDOW: _("no window was aggregated"),
    VolumeReason.KNOWN_SINCE: _("no data before %(since)s"),
    VolumeReason.KNOWN_OF_MINUTES: _("data for %(minutes)s of %(of)s minutes"),
    VolumeReason.NO_KNOWN_WINDOW: _("no window has data"),
}

AT_LEAST: dict[str, str | Promise] = {
    "into_retry": _("≥ %s into retry"),
    "consumed": _("≥ %s consumed"),
    "into_dlq": _("≥ %s"),
}


def volume_words(stored: str | Mapping[str, Any]) -> str:
    """What is no code is said as it is: another version of the product may have stored it."""
    if isinstance(stored, str):
        return "; ".join(map(_one, stored.split("; ")))
    values = {name: f"{value:,}" if isinstance(value, int) else value for name, value in stored.items()}
    known = ", ".join(str(AT_LEAST[name]) % f"{number:,}" for name, number in stored["at_least"].items())
    return f"{REASONS[stored['code']] % values}: {known}"


def _one(code: str) -> str:
    return str(REASONS[code]) if code in REASONS else reason_words(code)
