"""What a reset, its queues and its acts look like over REST."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from consumers.selectors.public import URL, answer, public
from consumers.selectors.resets.rows import ResetEventRow, ResetQueueRow, ResetRow


@answer("What may be done with it, by whoever asks, at this moment: null, or the sentence why not.")
@dataclass(frozen=True, kw_only=True)
class Acts:
    apply: str | None
    resume: str | None
    restore: str | None
    cancel: str | None


@dataclass(frozen=True, kw_only=True)
class WholeReset(ResetRow):
    acts: Acts
    queues: Sequence[ResetQueueRow] | None = field(metadata=public("null where there are more than 1,000"))
    queues_url: str = field(metadata=public("All of them, in pages", of=URL))
    events: Sequence[ResetEventRow] = field(metadata=public("Who did what with it, in order"))
