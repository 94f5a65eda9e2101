"""What a selection holds, before it is planned."""

from dataclasses import dataclass

from django.conf import settings

from consumers.models import ConsumerGroup

from .selection import Selection


@dataclass(frozen=True)
class Chosen:
    """`topics`: those that the messages came from. `gone`: of those named, how many are not listed (any more)."""

    messages: int
    most: int
    topics: list[str]
    gone: int = 0

    @property
    def is_too_many(self) -> bool:
        return self.messages > self.most


def chosen_of(group: ConsumerGroup, selection: Selection) -> Chosen:
    most = settings.RESEND_MESSAGES_MAX
    if selection.filters is not None:
        found = selection.filters.letters_of(group).order_by()
        topics = found.exclude(origin_topic=None).values_list("origin_topic", flat=True).distinct()
        return Chosen(found.count(), most, sorted(topic for topic in topics if topic))
    letters = selection.letters(group, most)
    named = {letter.origin_topic for letter in letters if letter.origin_topic}
    return Chosen(len(letters), most, sorted(named), len(selection.missing(letters)))
