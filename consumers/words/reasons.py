"""Why a value is null, where code tells such reasons apart."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.reasons import CodedReason, ReasonCode

REASONS: dict[str, str | Promise] = {
    ReasonCode.NOT_AGGREGATED: _("not aggregated yet"),
    ReasonCode.NOT_POLLED: _("no poll in this window"),
    ReasonCode.NO_MEMBER: _("the group has no member"),
    ReasonCode.NO_OWNER: _("no member owns it"),
    ReasonCode.NEVER_DRAINS: _("messages are produced at least as fast as they are consumed"),
    ReasonCode.NO_REBALANCE: _("no rebalance seen"),
}


def coded_reason(code: ReasonCode) -> CodedReason:
    return CodedReason(code, REASONS[code])
