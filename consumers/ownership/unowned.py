"""Why a queue has no owner to show, by the newest answers of members."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext

from consumers.models import ConsumerGroup
from consumers.queries.brokers import BrokerAge
from consumers.queries.limits import limits
from consumers.queries.queues.overlay import NOT_SAMPLED
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import coded_reason


def why_nothing_is_read(brokers: Sequence[BrokerAge], now: datetime) -> str | None:
    """Members are asked by way of any broker: where none is read, nobody knows what they hold."""
    unread = [broker.unread_reason(now, limits()) for broker in brokers]
    return next(iter(unread), gettext("no broker of the cluster is known yet")) if None not in unread else None


def no_owner_reason(group: ConsumerGroup, answers: Sequence[bool]) -> str:
    """Why a queue has no owner to show; `answers`: of each present member, whether it spoke."""
    if not answers and group.online is False:
        return coded_reason(ReasonCode.NO_MEMBER)
    if not any(answers):
        return str(NOT_SAMPLED)
    return coded_reason(ReasonCode.NO_OWNER) if all(answers) else gettext("no member that answered owns it")
