"""The membership part of a reading: who to ask is planned from the rows and this very sweep, under a budget."""

import asyncio
from collections.abc import Collection, Iterator, Sequence

from consumers.polling.reading import ClientReading, GroupMembers, Member, MembersReading

from .client_round import ClientRound
from .known_groups import Rotation
from .membership import read_groups
from .planning import KEPT_FOR_ROTATION, plan_clients, plan_sweep
from .silences import Silences
from .turn import AskedBroker, Turn

# 5.4.0, RemotingProtocolServer: GET_CONSUMER_RUNNING_INFO is not among what a proxy serves.
BEHIND_A_PROXY = "proxies pass no question on to their clients"


async def collect_members(
    turn: Turn,
    cluster: str,
    brokers: Sequence[AskedBroker],
    unread: str | None,
    rotation: Rotation,
    silences: Silences,
) -> MembersReading:
    """`brokers`, and after them the proxies: clients of a proxy register there, so it is asked like one broker more
    (5.4.0, ConsumerManagerActivity)."""
    clock, budget = asyncio.get_running_loop().time, turn.budget
    before, began = turn.pool.spent(), clock()
    names = plan_sweep(rotation, budget.membership_calls // max(len(brokers), 1), budget, turn.now)
    answers = await read_groups(turn, brokers, names, unread, rotation.topics)
    swept = clock()
    who = _Reach({broker.address for broker in brokers if broker.passes_on}, silences, turn)
    askable = {answer.group: who.askable(answer) for answer in answers}
    plan = plan_clients(answers, askable, rotation, silences, budget, turn.now)
    unasked = list(who.out_of_reach(answers, plan.groups))
    asking = ClientRound(turn, silences, rotation.topics)
    clients = await asking.read(plan.clients)
    # Never less than a quarter, or they would never be asked where clients are many.
    left = max(budget.running_info_calls - asking.asked, budget.running_info_calls // KEPT_FOR_ROTATION)
    clients = await asking.assign(clients, plan.clients, left)
    spent = turn.pool.spent()
    return MembersReading(
        cluster=cluster,
        taken_at=turn.now,
        groups=tuple(answers),
        clients=(*clients, *unasked),
        calls=spent.calls - before.calls,
        bytes=spent.bytes_received - before.bytes_received,
        seconds=clock() - began,
        sweep_seconds=swept - began,
        running_info_seconds=clock() - swept,
        groups_hurried=plan.hurried,
        clients_asked=asking.asked,
    )


class _Reach:
    """Who cannot be asked in this reading, and why."""

    def __init__(self, addresses: set[str], silences: Silences, turn: Turn) -> None:
        self._addresses, self._silences, self._now = addresses, silences, turn.now
        silences.forget_old(turn.now)

    def askable(self, answer: GroupMembers) -> list[Member]:
        return [member for member in answer.members if self._hindrance(answer.group, member) is None]

    def out_of_reach(self, answers: Sequence[GroupMembers], asked: Collection[str]) -> Iterator[ClientReading]:
        """Silent members of groups that were asked, and all that no broker reaches."""
        for answer in answers:
            for member in answer.members:
                reason = self._hindrance(answer.group, member)
                if reason == BEHIND_A_PROXY or (reason is not None and answer.group in asked):
                    yield ClientReading(answer.group, member.client_id, error=reason)

    def _hindrance(self, group: str, member: Member) -> str | None:
        if member.broker_address not in self._addresses:
            return BEHIND_A_PROXY
        return self._silences.not_asked((group, member.client_id), self._now)
