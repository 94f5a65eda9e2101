"""What is said of a blocked queue, in the language of the request."""

from django.utils.translation import gettext, gettext_lazy

from consumers.selectors.measures import age, count, messages, rate

from .blocked_kinds import Verdict, is_past_timeout
from .blocked_rows import BlockedKind, HeadFacts
from .standing import Standing

KEYS_SHOWN = 60
WHAT = {
    BlockedKind.ORDERLY_SUSPEND: gettext_lazy("%(message)s is suspended by %(member)s, where %(failing)s fail"),
    BlockedKind.LOCAL_RETRY: gettext_lazy(
        "%(message)s fails at %(member)s, cannot be sent back and is tried again every 5 s"
    ),
    BlockedKind.TIMEOUT_NEAR: gettext_lazy(
        "%(message)s is not finished by %(member)s; once it runs for %(timeout)s it is sent back while it still runs"
    ),
    BlockedKind.SLOW_MESSAGE: gettext_lazy("%(message)s is not finished by %(member)s: its listener still runs"),
    BlockedKind.NOT_COMMITTED: gettext_lazy(
        "%(message)s is held by %(member)s, which takes messages, fails none and commits none"
    ),
    BlockedKind.UNKNOWN: gettext_lazy("%(message)s is not finished by %(member)s; why is not known: %(why)s"),
}
# Orderly members send back what is past its tries.
REFUSABLE = (BlockedKind.LOCAL_RETRY, BlockedKind.ORDERLY_SUSPEND)
PAST_TIMEOUT = gettext_lazy(
    "%(message)s is not finished by %(member)s for more than twice its timeout of %(timeout)s: "
    "sending it back fails too, or no thread has begun it"
)


def blocked_sentence(head: Standing, verdict: Verdict, message: HeadFacts | None) -> str:
    """`blocked 12 min on Stock/broker-a/3: message 48,211 (o-7) is suspended by … · 9,120 messages wait behind it`."""
    kind = verdict.kind
    what = PAST_TIMEOUT if kind is BlockedKind.TIMEOUT_NEAR and is_past_timeout(head) else WHAT[kind]
    opening = gettext("blocked %(age)s on %(place)s: %(what)s") % {
        "age": age(head.seconds),
        "place": f"{head.topic}/{head.broker}/{head.queue_id}",
        "what": str(what)
        % {
            "message": _named(head, message),
            "member": head.client_id,
            "failing": rate(head.failed_per_second or 0),
            "timeout": age(head.timeout_seconds or 0),
            "why": verdict.why_unknown,
        },
    }
    refused = head.sendbacks.refused if kind in REFUSABLE else None
    parts = [opening, *([refused] if refused else [])]
    if head.behind:
        parts.append(gettext("%(messages)s wait behind it") % {"messages": messages(head.behind)})
    return " · ".join(parts)


def _named(head: Standing, message: HeadFacts | None) -> str:
    words = {"offset": count(head.offset)}
    if message is None or not message.keys:
        return gettext("message %(offset)s") % words
    return gettext("message %(offset)s (%(keys)s)") % (words | {"keys": message.keys[:KEYS_SHOWN]})
