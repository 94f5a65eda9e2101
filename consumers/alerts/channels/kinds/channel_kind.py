"""The declaration of one kind of notification channel, in one place.

Forms, REST, checks of entered values, delivery and the table in docs/channels.md are built from these declarations. To
add a kind, see docs/architecture.md.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from consumers.alerts.fields import EntryField, Words, WrongValue, text
from consumers.models import Channel, ChannelKind, Delivery
from consumers.words.reasons import stored_words

from .addresses import WrongAddress, parsed_url
from .sending import Means, Outcome

# The values of a kind's fields, by name. They are stored sealed.
SealedFields = dict[str, Any]
Sender = Callable[[SealedFields, Delivery, datetime, Means], Outcome]
# Notifies again of all firing incidents; None where nothing fires.
Repeater = Callable[[SealedFields, Channel, datetime, Means], Outcome | None]


def _fits_together(_values: Mapping[str, Any]) -> dict[str, str]:
    return {}


@dataclass(frozen=True, kw_only=True)
class ChannelKindSpec:
    """`fields`: what addresses a channel of this kind, the address itself first.

    `target`: where it goes, in words that hold no secret; raises WrongValue. `wrong_together`: a sentence for each
    field that does not fit the others. `pause_seconds`: between two messages. `steps`: so many exchanges one message
    may take, each of ALERT_DELIVERY_SECONDS. `repeat`: of receivers that forget what they are not told again.
    """

    code: ChannelKind
    label: Words
    fields: tuple[EntryField, ...]
    target: Callable[[SealedFields], str]
    send: Sender
    has_templates: bool
    wrong_together: Callable[[Mapping[str, Any]], dict[str, str]] = _fits_together
    pause_seconds: float = 0.0
    steps: int = 2
    repeat: Repeater | None = None


# Checks that several kinds share.

PRINTABLE = re.compile(r"[\x20-\x7e]*")


def http_url(value: Any) -> str:
    entered = str(text(2000, required=True)(value))
    try:
        parsed_url(entered)
    except WrongAddress as wrong:
        raise WrongValue(stored_words(str(wrong))) from None
    return entered


def origin_of(fields: SealedFields) -> str:
    return parsed_url(fields["url"]).origin


def header_text(value: Any) -> str:
    """A text that is valid in an HTTP header."""
    if not isinstance(value, str) or len(value) > 1000 or not PRINTABLE.fullmatch(value):
        raise WrongValue(gettext("Must be at most 1000 ASCII characters, without control characters."))
    return value
