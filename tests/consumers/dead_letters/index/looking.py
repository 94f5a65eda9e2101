"""Looks into the dead letters of billing, and what the rows hold then."""

from datetime import datetime

from consumers.dead_letters.index import IndexLimits, IndexPass, index_groups
from consumers.models import ConsumerGroup, DeadLetter, DeadLetterLook
from consumers.rocketmq.wire.codes import RequestCode
from tests.dead_letter_broker import DeadLetterBroker, stored_letter
from tests.world import NOW

TOPIC = "%DLQ%billing"


def look(calls: int = 400, kept: int = 20_000, now: datetime = NOW) -> IndexPass:
    group = ConsumerGroup.objects.get(name="billing")
    return index_groups(group.cluster, group, IndexLimits(calls=calls, kept=kept, deadline_seconds=1.0), now)


def offsets() -> list[int]:
    return list(DeadLetter.objects.order_by("offset").values_list("offset", flat=True))


def the_look() -> DeadLetterLook:
    return DeadLetterLook.objects.get()


def indexed() -> tuple[int | None, int | None]:
    return the_look().indexed_from, the_look().indexed_to


def add(broker: DeadLetterBroker, *offsets: int) -> None:
    broker.letters[TOPIC] |= {offset: stored_letter(offset) for offset in offsets}


def pulled(broker: DeadLetterBroker) -> list[int]:
    return [int(r.ext_fields["queueOffset"]) for r in broker.asked if r.code == RequestCode.PULL_MESSAGE]
