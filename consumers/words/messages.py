"""The attempts of one message in words: kinds of copies, what the group's offset says, how a delivery is known."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.messages import AttemptProgress, AttemptUnknown, CopyKind, DeliveryBasis

Text = str | Promise

KINDS: Mapping[str, Text] = {
    CopyKind.ORIGINAL: _("original"),
    CopyKind.RETRY: _("retry"),
    CopyKind.DELAYED: _("waits for its retry"),
    CopyKind.DEAD_LETTER: _("dead letter"),
}
PROGRESS: Mapping[str, Text] = {
    AttemptProgress.CONSUMED: _("consumed"),
    AttemptProgress.WAITING: _("waiting"),
    AttemptProgress.FILTERED: _("filtered out by its tag"),
}
BASES: Mapping[str, Text] = {
    DeliveryBasis.SENT_BACK: _("sent back"),
    DeliveryBasis.COUNTED: _("counted by reconsume times, copy not found"),
    DeliveryBasis.COMMITTED: _("committed"),
    DeliveryBasis.REDELIVERED: _("before it was redelivered"),
}
DEAD = _("dead-lettered")

UNKNOWN: dict[str, Text] = {
    AttemptUnknown.BROADCASTING: _("members of a broadcasting group keep offsets of their own"),
    AttemptUnknown.POPPING: _("POP moves the offset when a message is handed out, not when it is acknowledged"),
    AttemptUnknown.OUTSIDE_STORE: _("the group keeps its offsets outside of the brokers"),
    AttemptUnknown.NEVER_COMMITTED: _("the group has not committed an offset for this queue"),
    AttemptUnknown.OFFSET_UNREAD: _("the group's offset could not be read: %(error)s"),
    AttemptUnknown.NOT_DELIVERED_FROM: _("the group does not consume from here"),
    AttemptUnknown.SQL_FILTER: _("the group filters by SQL: the offset does not say whether the message matched"),
    AttemptUnknown.NOT_CONSUMED_YET: _("not consumed yet"),
    AttemptUnknown.NOT_PASSED_IN_HISTORY: _("no poll until %(until)s UTC saw the offset pass it"),
    AttemptUnknown.NO_HISTORY: _("the history could not be read: %(error)s"),
    AttemptUnknown.CLOCKS_DIFFER: _("the clocks of two machines differ"),
    AttemptUnknown.COPY_NOT_FOUND: _("its copy was not found: it expired, or the member retried on the spot"),
    AttemptUnknown.NO_DELAY: _("the broker did not say when it is due"),
    AttemptUnknown.NOT_DELAYED: _("it does not wait on a delay level"),
    AttemptUnknown.QUEUE_NEVER_SEEN: _("no poll has seen this queue"),
    AttemptUnknown.SEVERAL_MEMBERS: _("several members held the queue then"),
    AttemptUnknown.STILL_MEMBER: _("still a member when last polled"),
    AttemptUnknown.NO_REPEAT_COVERS: _("no repeat that was found covers it"),
    AttemptUnknown.DELIVERIES_NOT_STORED: _("brokers do not store deliveries: there may have been more"),
    AttemptUnknown.NOT_IN_MESSAGE: _("not in the message"),
    AttemptUnknown.BUDGET_USED: _("not searched: the look-up has used its %(calls)s calls"),
    AttemptUnknown.TIME_USED: _("not searched: the look-up took longer than %(seconds)s s"),
    AttemptUnknown.PLACE_UNREAD: _("not searched: %(error)s"),
    AttemptUnknown.MORE_THAN_SHOWN: _("the index returns %(most)s messages at most: there may be more"),
    AttemptUnknown.NO_MASTER: _("no master of %(broker)s is known"),
    AttemptUnknown.NO_KEY: _("the message has neither an ID of its producer nor a key to look for its copies"),
}


def kind_words(code: str) -> str:
    return str(KINDS.get(code, code))


def progress_words(code: str) -> str:
    return str(PROGRESS.get(code, code))


def basis_words(code: str) -> str:
    return str(BASES.get(code, code))
