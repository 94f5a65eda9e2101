"""How completely the range of a list of events was watched: every such list has this besides its count."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from consumers.queries.declared import answer, public
from consumers.queries.unwatched import first_scrape, is_partly_watched

PARTLY = gettext_lazy(
    "for part of this time brokers were not scraped, members not reported, scrapes not evaluated, or no record is left"
    " of it: there may be more"
)
NOTHING = gettext_lazy("nothing was scraped yet")


@answer("Whether `count` has every event of the range, or is a lower bound.", name="EventCompleteness")
@dataclass(frozen=True)
class Watched:
    """`unknown_reason`: why `count` is a lower bound; null if it is exact."""

    count_is_lower_bound: bool = field(metadata=public("There may be more events than `count`"))
    since: datetime | None = field(
        metadata=public("Without `from`: since when records are kept. Null where nothing was scraped", name="from")
    )
    until: datetime = field(metadata=public("Without `to`, or with a later one: now", name="to"))
    unknown_reason: str | None = field(metadata=public("Why there may be more; null if `count` is exact"))
    unknown: dict[str, str] = field(default_factory=dict)


def watched(values: Mapping[str, Any], now: datetime) -> Watched:
    """Of the parameters `cluster`, `group`, `from` and `to` of a list of events. Eleven queries at most."""
    cluster, group = values.get("cluster"), values.get("group")
    until = min(values.get("to") or now, now)
    since = values.get("from") or first_scrape(cluster)
    if since is None:
        return Watched(True, None, until, str(NOTHING), {"from": str(NOTHING)})
    is_partial = is_partly_watched(cluster, group, since, max(since, until))
    return Watched(is_partial, since, until, str(PARTLY) if is_partial else None)
