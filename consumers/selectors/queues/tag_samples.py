"""How much of what waits a group would take at all: the next messages of each topic that it filters."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import ConsumerGroup, TagSample
from consumers.polling.flags import EVERY_TAG
from consumers.polling.samples.tags import TAG_TYPES
from consumers.selectors.public import public

NOT_TAGS = "it looks at properties of messages, of which a consume queue tells nothing"
NOT_LOOKED_AT = "not sampled: nothing waits there, or its turn has not come"


@dataclass(frozen=True)
class TagSampleRow:
    """Of the `looked_at` next messages of the topic's most lagging queue `matching` match; null has its reason.

    Matches are counted by the tags' hashes, as a broker does: another tag may share one, so there may be fewer.
    """

    topic: str
    expression: str
    expression_type: str
    looked_at: int | None = field(metadata=public("Messages of the topic's most lagging queue"))
    matching: int | None = field(metadata=public("By the hashes of their tags: at most so many"))
    asked_at: datetime | None
    sentence: str
    unknown_reason: str | None


def tag_samples(group: ConsumerGroup) -> list[TagSampleRow]:
    """One for each subscription that leaves something out, by topic. One query."""
    samples = {sample.topic: sample for sample in TagSample.objects.filter(group=group)}
    filtered = [one for one in group.subscriptions if one["topic"] and one["expression"] not in (*EVERY_TAG, None)]
    return [_row(one, samples.get(one["topic"])) for one in sorted(filtered, key=lambda one: str(one["topic"]))]


def _row(subscription: dict[str, str], sample: TagSample | None) -> TagSampleRow:
    topic, expression = subscription["topic"], subscription["expression"]
    kind = subscription.get("expression_type") or "TAG"
    if kind not in TAG_TYPES:
        return _unknown(topic, expression, kind, NOT_TAGS)
    if sample is None or sample.expression != expression:
        return _unknown(topic, expression, kind, NOT_LOOKED_AT)
    return TagSampleRow(
        topic=topic,
        expression=expression,
        expression_type=kind,
        looked_at=sample.looked_at,
        matching=sample.matching,
        asked_at=sample.asked_at,
        sentence=_sentence(sample),
        unknown_reason=None,
    )


def _sentence(sample: TagSample) -> str:
    if sample.looked_at == 1:
        does = "matches" if sample.matching else "does not match"
        return f"the next message of {sample.topic} {does} {sample.expression}"
    matching = f"{sample.matching} of" if sample.matching else "none of"
    matches = "match" if sample.matching > 1 else "matches"
    return f"{matching} the next {sample.looked_at} messages of {sample.topic} {matches} {sample.expression}"


def _unknown(topic: str, expression: str, kind: str, reason: str) -> TagSampleRow:
    sentence = f"how many messages of {topic} match {expression} is not known: {reason}"
    return TagSampleRow(topic, expression, kind, None, None, None, sentence, reason)
