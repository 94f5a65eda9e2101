"""Consequences of each way of moving offsets, in sentences for the person who decides."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from consumers.models import ResetMethod

from .facts import GroupFacts

JAVA = "JAVA"


def consequences(methods: Collection[ResetMethod], topics: Collection[str], group: GroupFacts) -> list[str]:
    """Of the queues that are to be moved: the ways in which, and their topics."""
    said: list[str] = []
    if ResetMethod.SERVER in methods:
        said += _when_the_broker_moves_them(group) + _what_pops_again(topics, group)
    if ResetMethod.CLIENT in methods:
        said += _when_members_are_told()
    if ResetMethod.COMMIT in methods:
        said.append(
            _(
                "The offsets are committed as a member would: no member may start before the reset is done, or it "
                "commits its own offsets over them."
            )
        )
    if group.members and group.orderly and {ResetMethod.SERVER, ResetMethod.CLIENT} & set(methods):
        said.append(
            _(
                "The group consumes in order: a member goes on from the target only when the message that it is "
                "working on has returned."
            )
        )
    return said


def _when_the_broker_moves_them(group: GroupFacts) -> list[str]:
    if not group.members:
        return [_("The offsets are moved at once; members that start later begin at the targets.")]
    said = [
        _(
            "The offsets are moved at once. The member that owns a queue drops what it has fetched at its next pull "
            "and goes on from the target: within 20 seconds where it waits for messages, later where it has fetched "
            "as much as it may hold. What it commits until then is ignored."
        ),
        _(
            "What a member is working on at that moment is finished but not committed: it is consumed again if it lies "
            "at the target or beyond."
        ),
        _(
            "Members older than RocketMQ 5.2 take 10 seconds more, commit their old offset meanwhile, and only then "
            "go on from the target."
        ),
    ]
    if others := sorted(set(group.languages) - {JAVA}):
        said.append(
            _("Members written in %s decide themselves when they follow a moved offset: reading back tells.")
            % ", ".join(others)
        )
    return said


def _what_pops_again(topics: Collection[str], group: GroupFacts) -> list[str]:
    if group.pop_topics is None:
        return [_("If the group pops, messages that are not acknowledged yet come again, wherever the offset is set.")]
    if popped := sorted(set(topics) & group.pop_topics):
        return [
            _("Popped messages of %s that are not acknowledged yet come again, wherever the offset is set.")
            % ", ".join(popped)
        ]
    return []


def _when_members_are_told() -> list[str]:
    return [
        _(
            "Members are told without an answer. Each stops consuming for about 10 seconds for every topic that is "
            "reset, with all its topics, drops what it has fetched and goes on from the offset that it was told."
        ),
        _(
            "The broker works the offsets out when it is told, from the time: messages that arrive or expire between "
            "plan and reset are counted in."
        ),
        _("All queues of the topic at that broker are moved, forwards as well as back."),
    ]
