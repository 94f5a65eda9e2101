"""What each measure is of, in which unit, and how a rule may compare it."""

from dataclasses import dataclass
from enum import StrEnum

from consumers.models import Comparison, Measure, SubjectKind


class Unit(StrEnum):
    STATE = "state"
    MESSAGES = "messages"
    SECONDS = "seconds"
    SHARE = "share"
    COUNT = "count"


@dataclass(frozen=True)
class MeasureFacts:
    """`knows_topics`: a rule of it may name a topic, and then looks at each group's part of that topic."""

    subject: SubjectKind
    unit: Unit
    comparisons: tuple[Comparison, ...] = (Comparison.ABOVE,)
    knows_topics: bool = False


_GROUP, _BROKER, _CLUSTER, _SITE = SubjectKind.GROUP, SubjectKind.BROKER, SubjectKind.CLUSTER, SubjectKind.SITE
_EITHER = (Comparison.ABOVE, Comparison.BELOW)

FACTS: dict[Measure, MeasureFacts] = {
    Measure.STATE: MeasureFacts(_GROUP, Unit.STATE, (Comparison.IN,), knows_topics=True),
    Measure.LAG: MeasureFacts(_GROUP, Unit.MESSAGES, knows_topics=True),
    Measure.TIME_LAG: MeasureFacts(_GROUP, Unit.SECONDS, knows_topics=True),
    Measure.EXPIRY: MeasureFacts(_GROUP, Unit.SECONDS, (Comparison.BELOW,)),
    Measure.DRAIN: MeasureFacts(_GROUP, Unit.SECONDS),
    Measure.EXPIRED: MeasureFacts(_GROUP, Unit.MESSAGES),
    Measure.RETRY_SHARE: MeasureFacts(_GROUP, Unit.SHARE),
    Measure.DLQ_INFLOW: MeasureFacts(_GROUP, Unit.MESSAGES),
    Measure.REBALANCES: MeasureFacts(_GROUP, Unit.COUNT),
    Measure.UNSETTLED: MeasureFacts(_GROUP, Unit.SECONDS),
    Measure.UNOWNED: MeasureFacts(_GROUP, Unit.COUNT, knows_topics=True),
    Measure.DOUBLY_OWNED: MeasureFacts(_GROUP, Unit.COUNT, knows_topics=True),
    Measure.BLOCKED: MeasureFacts(_GROUP, Unit.SECONDS, knows_topics=True),
    Measure.MEMBERS: MeasureFacts(_GROUP, Unit.COUNT, _EITHER),
    Measure.UNKNOWN: MeasureFacts(_GROUP, Unit.SECONDS),
    Measure.LOST: MeasureFacts(_BROKER, Unit.COUNT),
    Measure.BROKER_UNREAD: MeasureFacts(_BROKER, Unit.SECONDS),
    Measure.NAME_SERVER: MeasureFacts(_CLUSTER, Unit.SECONDS),
    # Of the site where no cluster is read.
    Measure.READING_AGE: MeasureFacts(_CLUSTER, Unit.SECONDS),
    Measure.JUDGEMENT_AGE: MeasureFacts(_SITE, Unit.SECONDS),
}
