"""How much is indexed, and how much one run may cost."""

from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True)
class LookRules:
    """`kept` letters of each group. A queue that did not change is looked at again after `again_seconds`: as many may
    have come as have expired."""

    calls: int = 400
    kept: int = 20_000
    deadline_seconds: float = 5.0
    again_seconds: float = 600.0

    @classmethod
    def of_site(cls) -> "LookRules":
        return cls(
            calls=settings.DEAD_LETTER_CALLS,
            kept=settings.DEAD_LETTERS_KEPT,
            deadline_seconds=settings.POLL_CALL_DEADLINE_SECONDS,
        )
