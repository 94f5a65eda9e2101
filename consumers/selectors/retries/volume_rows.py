"""What the selectors say of volumes: how many messages went into retry, out of it, to the dead letters, were consumed.

`into_retry` counts redeliveries: a message that fails three times is three. `consumed` is how far the offsets of the
group's own topics moved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from consumers.pipeline.volumes.names import VOLUMES as VOLUMES


@dataclass(frozen=True)
class VolumeWindow:
    """Messages of [at, until). Null stands with its reason in `unknown`. `is_open`: not judged to its end so far."""

    at: datetime
    until: datetime
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None
    is_open: bool
    unknown: Mapping[str, str]


@dataclass(frozen=True)
class VolumeTotals:
    """Messages of [since, until): known between the first and the last reading of the range, whatever windows lie in
    between. `at_least` has what is known of each, null where nothing is; `known_since` the moment from which a null one
    counts, where something before it is not known; `unknown` the reason of each null sum."""

    since: datetime
    until: datetime
    into_retry: int | None
    out_of_retry: int | None
    into_dlq: int | None
    consumed: int | None
    at_least: Mapping[str, int | None]
    known_since: Mapping[str, datetime]
    unknown: Mapping[str, str]


@dataclass(frozen=True)
class Volumes:
    """Every window of the range, oldest first, and their totals up to what was judged last."""

    since: datetime
    until: datetime
    step_seconds: int
    totals: VolumeTotals
    windows: list[VolumeWindow]
