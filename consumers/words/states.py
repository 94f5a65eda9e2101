"""States of queues and groups."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.states import State

STATES: dict[State, str | Promise] = {
    State.LOSS: _("messages lost"),
    State.STOP: _("stopped"),
    State.STALL: _("stalled"),
    State.REWIND: _("went back"),
    State.WARN: _("lagging"),
    State.UNKNOWN: _("unknown"),
    State.RECREATED: _("recreated"),
    State.OK: _("OK"),
}
MEANINGS: dict[State, str | Promise] = {
    State.LOSS: _("Messages expired before the group consumed them, or its committed offset is gone from the broker."),
    State.STOP: _("The group has lag, commits nothing, and has no members."),
    State.STALL: _("The group has members and lag, but commits nothing: a queue is blocked or has no owner."),
    State.REWIND: _("The committed offset went back: messages are redelivered."),
    State.WARN: _("The lag grows, or does not drain."),
    State.UNKNOWN: _("There is not enough data to evaluate the group. The reason is shown with the state."),
    State.RECREATED: _("The topic or queue was recreated: its history starts over."),
    State.OK: _("Caught up, within its threshold, draining, or intentionally idle."),
}
REMEDIES: dict[State, str | Promise] = {
    State.LOSS: _("Speed up the consumers or retain messages longer. If an offset is lost, reset to a past position."),
    State.STOP: _("Start a consumer. If it is running, check its connection to the name servers and brokers."),
    State.STALL: _("Open the tab Retries & DLQ for blocked queues, and Ownership for queues without an owner."),
    State.REWIND: _("Check whether somebody reset the offsets. Consumers must tolerate repeated messages."),
    State.WARN: _("Add consumers, up to one per queue, or make the processing of a message faster."),
    State.UNKNOWN: _("Check the brokers on the page Clusters, then the pipeline below them."),
    State.RECREATED: _("Nothing, if this was intended. Otherwise compare the offsets of the group with the new topic."),
    State.OK: _("Nothing."),
}
