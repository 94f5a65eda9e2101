"""What each way of moving offsets does to a running group, in sentences for whoever decides."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from consumers.models import ResetMethod

from .facts import GroupFacts

JAVA = "JAVA"


def consequences(methods: Collection[ResetMethod], topics: Collection[str], group: GroupFacts) -> list[str]:
    """Of the queues that are to be moved: the ways in which, and their topics. In the order in which they matter."""
    said: list[str] = []
    if ResetMethod.SERVER in methods and group.members:
        said += _when_the_broker_moves_them(topics, group)
    if ResetMethod.CLIENT in methods:
        said += _when_members_are_told(group)
    if ResetMethod.COMMIT in methods:
        said.append(
            _(
                "The offsets are committed as a member would: no member may start before the reset is done, or it "
                "commits its own offsets over them."
            )
        )
    if ResetMethod.SERVER in methods and not group.members:
        said.append(_("The offsets are moved at once; members that start later begin at the targets."))
    return said


def _when_the_broker_moves_them(topics: Collection[str], group: GroupFacts) -> list[str]:
    said = [
        _(
            "The offsets are moved at once. The member that owns a queue drops what it has fetched at its next pull, "
            "within 15 seconds where no message arrives, and goes on from the target; what it commits until then is "
            "ignored."
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
    if group.orderly:
        said.append(_ordered())
    popped = None if group.pop_topics is None else sorted(set(topics) & group.pop_topics)
    if popped:
        said.append(
            _("Popped messages of %s that are not acknowledged yet come again, wherever the offset is set.")
            % ", ".join(popped)
        )
    if popped is None:
        said.append(_("If members pop, messages that they have not acknowledged yet come again as well."))
    if others := sorted(set(group.languages) - {JAVA}):
        said.append(
            _("Members written in %s decide themselves when they follow a moved offset: reading back tells.")
            % ", ".join(others)
        )
    return said


def _when_members_are_told(group: GroupFacts) -> list[str]:
    said = [
        _(
            "Members are told one after the other, without an answer: each stops consuming for about 10 seconds, with "
            "all its topics, drops what it has fetched and goes on from the offset that it was told."
        ),
        _(
            "The broker works the offsets out when it is told, from the time: messages that arrive or expire between "
            "plan and reset are counted in."
        ),
        _("All queues of the topic at that broker are moved, and forwards as well as back."),
    ]
    if group.orderly:
        said.append(_ordered())
    return said


def _ordered() -> str:
    return _(
        "The group consumes in order: a queue goes on only when its lock is free, which takes up to a minute where a "
        "message is still being worked on."
    )
