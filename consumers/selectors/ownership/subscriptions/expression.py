"""What a member wants of a topic, so that two that want the same are equal."""

from typing import NamedTuple

TAG, EVERYTHING = "TAG", "*"


class Expression(NamedTuple):
    kind: str
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == TAG else f"{self.kind}: {self.text}"


def expression(kind: str | None, text: str | None) -> Expression:
    """Clients without a type filter by tags. `A||B` and `B || A` are the same; every tag is `*` alone, or no text.

    RocketMQ 5.4.0, FilterAPI.buildSubscriptionData.
    """
    if kind not in (None, "", TAG):
        return Expression(str(kind), (text or "").strip())
    if not text or text == EVERYTHING:
        return Expression(TAG, EVERYTHING)
    return Expression(TAG, "||".join(sorted({tag.strip() for tag in text.split("||") if tag.strip()})))
