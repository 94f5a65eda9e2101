"""What a selection holds, before it is planned."""

from dataclasses import dataclass

from django.conf import settings

from consumers.models import ConsumerGroup

from .selection import Selection


@dataclass(frozen=True)
class Chosen:
    """`messages`: no more than one above `most`. `topics`: those that they came from."""

    messages: int
    most: int
    topics: list[str]
    gone: int

    @property
    def is_too_many(self) -> bool:
        return self.messages > self.most


def chosen_of(group: ConsumerGroup, selection: Selection) -> Chosen:
    """`gone`: of those named, how many are not listed (any more)."""
    most = settings.RESEND_MESSAGES_MAX
    letters = selection.letters(group, most)
    topics = sorted({letter.origin_topic for letter in letters if letter.origin_topic})
    return Chosen(len(letters), most, topics, len(selection.missing(letters)))
