"""What the selectors say of volumes: how many messages went into retry, out of it, to the dead letters, were consumed.

`into_retry` counts redeliveries: a message that fails three times is three. `consumed` is how far the offsets of the
group's own topics moved.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from consumers.pipeline.volumes.names import VOLUMES as VOLUMES
from consumers.selectors.public import answer, public

OF_A_RANGE = "Messages of [from, to). `into_retry` has one for each redelivery."


@answer(OF_A_RANGE, last=("unknown", "to", "is_open"))
@dataclass(frozen=True)
class VolumeWindow:
    """Messages of [at, until). Null stands with its reason in `unknown`. `is_open`: not judged to its end so far."""

    at: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None = field(metadata=public("Of the group's own topics"))
    is_open: bool = field(metadata=public("It is not over, as far as judged"))
    unknown: Mapping[str, str]


@answer(OF_A_RANGE, last=("unknown", "to", "at_least", "known_since"))
@dataclass(frozen=True)
class VolumeTotals:
    """Messages of [since, until): known between the first and the last reading of the range, whatever windows lie in
    between. `at_least` has what is known of each, null where nothing is; `known_since` the moment from which a null one
    counts, where something before it is not known; `unknown` the reason of each null sum."""

    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public("Up to what was judged last", name="to"))
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None = field(metadata=public("Of the group's own topics"))
    at_least: Mapping[str, int | None]
    known_since: Mapping[str, datetime] = field(
        metadata=public("Of each null: the moment from which `at_least` counts, where what came before it is not known")
    )
    unknown: Mapping[str, str]


@dataclass(frozen=True)
class Volumes:
    """Every window of the range, oldest first, and their totals up to what was judged last."""

    since: datetime
    until: datetime
    step_seconds: int
    totals: VolumeTotals
    windows: list[VolumeWindow]
