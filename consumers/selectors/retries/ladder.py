"""What of a group waits on which delay level, when it comes back, and what of it dies if it fails once more."""

from collections.abc import Sequence
from datetime import datetime

from consumers.models import Broker, ConsumerGroup, Rung
from consumers.selectors.brokers import MASTER, broker_ages

from .broker_levels import BrokerLevels
from .delay_levels import levels_of
from .due_retries import due_retries
from .ladder_rows import Ladder
from .ladder_rungs import ladder_rungs
from .ladder_sums import NO_LEVELS, ladder_sums, not_sampled
from .last_attempts import last_attempts
from .retry_policies import policy_of
from .timer_wheels import wheel_count


def ladder_of(cluster: str, group: str, now: datetime) -> Ladder:
    """Raises ConsumerGroup.DoesNotExist. A fixed number of queries."""
    found = ConsumerGroup.objects.select_related("cluster", "judged").get(cluster__name=cluster, name=group)
    ages = broker_ages([found.cluster_id])
    age, brokers = ages[found.cluster_id], levels_of(ages, now)[found.cluster_id]
    rungs = ladder_rungs(brokers, Rung.objects.filter(group=found), now)
    masters = {row.pk: row for row in Broker.objects.filter(cluster=found.cluster_id, broker_id=MASTER)}
    sums, (policy, no_policy) = ladder_sums(rungs, now), policy_of(found)
    read_at = min((broker.read_at for broker in brokers if broker.read_at is not None), default=None)
    absent = {"rungs": None if rungs else NO_LEVELS, "read_at": None if read_at else _why_unread(brokers)}
    absent["policy"] = None if policy else no_policy
    return Ladder(
        rungs=rungs,
        messages=sums.messages,
        looked_at=sums.looked_at,
        of=sums.of,
        oldest_waiting=sums.oldest_waiting,
        next_to_fire=sums.next_to_fire,
        last_attempts=last_attempts(found, rungs, not_sampled(rungs)),
        due=due_retries(found, age, now),
        policy=policy,
        wheel=wheel_count(found, age, masters, now),
        findings=[finding for broker in brokers for finding in broker.findings],
        read_at=read_at,
        unknown={**sums.unknown, **{name: why for name, why in absent.items() if why is not None}},
    )


def _why_unread(brokers: Sequence[BrokerLevels]) -> str:
    return next((broker.unknown["read_at"] for broker in brokers), "no broker of the cluster is known yet")
