"""What reading back an offset after a reset found, in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.resets import ReadBackEvidence

EVIDENCE: dict[str, str | Promise] = {
    ReadBackEvidence.READ_ONCE: _("Set to %(target)s; read once: %(path)s."),
    ReadBackEvidence.READ_TIMES: _("Set to %(target)s; read %(times)s times over %(seconds)s s: %(path)s."),
    ReadBackEvidence.OFFSET_AFTER: _("%(offset)s after %(seconds)s s"),
    ReadBackEvidence.NO_COMMIT_AFTER: _("no commit after %(seconds)s s"),
    ReadBackEvidence.NEVER_READ: _("Could not be read for %(seconds)s s: %(error)s."),
    ReadBackEvidence.NOBODY_ASKED: _("nobody asked for it"),
    ReadBackEvidence.NO_MASTER_SEEN: _("no poll has found a master of %(broker)s"),
    ReadBackEvidence.UNREADABLE_BACK: _("it could not be read back: %(why)s"),
    ReadBackEvidence.UNREADABLE_SINCE: _("After that it could not be read: %(error)s."),
    ReadBackEvidence.READ_AGAIN: _("It was unreadable for a while, and a restarted broker has forgotten the reset."),
    ReadBackEvidence.PRESENT_UNKNOWN: _("The members of the group are unknown: %(error)s."),
    ReadBackEvidence.NO_MEMBERS_ASKED: _("nobody was asked"),
    ReadBackEvidence.COMMITS_TOO_SELDOM: _("Members commit only every %(seconds)s s, too seldom to tell."),
    ReadBackEvidence.MEMBERS_REPLACED: _(
        "Members left meanwhile, and those that joined may have started at either offset."
    ),
    ReadBackEvidence.EITHER_WAY: _("Either a member started at the target, or another offset was committed over it."),
    ReadBackEvidence.STOOD_AT_TARGET: _("It was at its target already."),
    ReadBackEvidence.CAME_TO_TARGET: _("It reached its target without a write."),
    ReadBackEvidence.STOOD_COMMIT_GONE: _("It was at its target already; it has no committed offset any more."),
    ReadBackEvidence.CAME_COMMIT_GONE: _("It reached its target without a write; it has no committed offset any more."),
    ReadBackEvidence.STOOD_WENT_BACK: _("It was at its target already; it went back since."),
    ReadBackEvidence.CAME_WENT_BACK: _("It reached its target without a write; it went back since."),
    ReadBackEvidence.OFFSETS_DELETED: _(
        "Its committed offset is gone: the group's offsets were deleted, or the broker lost them."
    ),
    ReadBackEvidence.NO_COMMIT_AS_BEFORE: _("It has no committed offset, as before."),
    ReadBackEvidence.NOBODY_CONNECTED: _("Nobody is connected."),
    ReadBackEvidence.STANDS_AS_BEFORE: _("It is where it was, and nobody is connected."),
    ReadBackEvidence.BROKER_FORGOT: _("Its broker restarted and lost offsets that it had not yet flushed to disk."),
    ReadBackEvidence.NO_MEMBER_COMMITTED: _("No member was connected meanwhile: something else committed it."),
    ReadBackEvidence.TOLD_MEMBER_STANDS: _("A notified member is there."),
    ReadBackEvidence.STANDS_LONG_ENOUGH: _(
        "That is longer than a pull and the commit after it take. A member with a full cache starts there at its "
        "next pull."
    ),
    ReadBackEvidence.PASSED_BETWEEN: _(
        "Only a member that started at %(target)s reports offsets between it and %(before)s."
    ),
    ReadBackEvidence.TOLD_MEMBER_COMMITTED: _("A notified member had committed the target."),
    ReadBackEvidence.BEGAN_STORED: _("The members connected after the offset was set, and started at it."),
    ReadBackEvidence.COMMITS_MEAN_TOLD: _(
        "The broker accepts a commit only after a member was notified of the target."
    ),
    ReadBackEvidence.MEMBER_COMMITTED_OVER: _("%(member)s, connected since before, committed over it."),
    ReadBackEvidence.SOMEBODY_COMMITTED_OVER: _("Somebody committed over it."),
    ReadBackEvidence.TARGET_NOT_TAKEN: _("It continues from where it was: the target was not taken."),
    ReadBackEvidence.OR_ONE_OF_MORE: _("%(first)s or one of %(n)s more"),
}
