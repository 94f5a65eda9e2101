"""Why a value is null, where code tells such reasons apart."""

from enum import StrEnum


class ReasonCode(StrEnum):
    # Of a window.
    NOT_AGGREGATED = "not_aggregated"
    NOT_POLLED = "not_polled"
    # Of a queue.
    NO_MEMBER = "no_member"
    NO_OWNER = "no_owner"
    # Of a group.
    NEVER_DRAINS = "never_drains"
    NO_REBALANCE = "no_rebalance"


class CodedReason(str):
    """A reason in the language of the request. Compare its `code`, never its words."""

    code: ReasonCode

    def __new__(cls, code: ReasonCode, words: object) -> "CodedReason":
        reason = super().__new__(cls, words)
        reason.code = code
        return reason


def reason_code(reason: str | None) -> ReasonCode | None:
    """Null for a reason that has no code."""
    return reason.code if isinstance(reason, CodedReason) else None
