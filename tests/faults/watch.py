"""What the site says while something is wrong: asked every second, and every answer held against the truth.

Whatever the fault is, the same is asked: nothing zero that was not read, no state better than the truth, nothing old
shown as new.
"""

import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.faults.launched import LATE_SECONDS, Launched, NoAnswer
from tests.faults.story import TRUTH

LOOK_SECONDS = 1.0
# Of an answer: it was put together some time before it is looked at.
SPARE_SECONDS = 5.0
# A group in trouble may be said to be in another trouble; these say that it is well.
WELL = ("OK", "RECREATED", "WARN")
OF_A_LEAP = ("OK", "RECREATED")
# A clock that leaps leaves the readings of before out of reach: a group that stands is only behind, until it has been
# seen to stand by the new time.
ANEW_SECONDS = 60.0
METRIC = re.compile(r'^consumerscope_group_lag_messages\{.*group="(faults-[a-z]+)".*\} (\S+)$', re.MULTILINE)


@dataclass
class Look:
    """At one moment. Null: it was not answered."""

    at: float
    now: datetime
    # Seconds since its clock leapt.
    since_leap: float = float("inf")
    ready: dict[str, Any] | None = None
    clusters: list[dict[str, Any]] | None = None
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    silence: str | None = None


def look(site: Launched) -> Look:
    at = time.monotonic()
    found = Look(at, site.now(), at - site.leapt_at)
    try:
        status, answer = site.ask("GET", "/readyz")
        found.ready = answer if status in (200, 503) and isinstance(answer, dict) else None
        found.groups = groups_of(site)
        found.clusters = site.rest("GET", "clusters/")["results"]
        status, text = site.ask("GET", "/metrics")
        if status == 200:
            found.metrics = {name: float(value) for name, value in METRIC.findall(str(text))}
    except NoAnswer as none:
        found.silence = str(none)
    return found


def groups_of(site: Launched) -> dict[str, dict[str, Any]]:
    rows = site.rest("GET", "groups/?search=faults-&page_size=1000")["results"]
    return {row["group"]: row for row in rows}


def lies(found: Look) -> list[str]:
    """What is said and is not so. What is null, or UNKNOWN, is no lie."""
    said = []
    for name, truth in TRUTH.items():
        row = found.groups.get(name)
        if row is None:
            if found.groups:
                said.append(f"{name} is gone from the list of groups")
            continue
        if truth.lag is not None and row["lag_messages"] not in (None, truth.lag):
            said.append(f"{name} has a lag of {row['lag_messages']}, not of {truth.lag}")
        if truth.lag is not None and (row["lag_messages_at_least"] or 0) > truth.lag:
            said.append(f"{name} has a lag of at least {row['lag_messages_at_least']}, not of {truth.lag}")
        well = WELL if found.since_leap > ANEW_SECONDS else OF_A_LEAP
        if truth.state not in WELL and row["state"] in well:
            said.append(f"{name} is {row['state']}, not {truth.state}")
        if truth.state not in WELL and row["health"] == "ok":
            said.append(f"the health of {name} is ok, and it is {truth.state}")
        if row["members"] not in (None, truth.members):
            said.append(f"{name} has {row['members']} members, not {truth.members}")
        if truth.lag is not None and found.metrics.get(name, truth.lag) != truth.lag:
            said.append(f"/metrics gives {name} a lag of {found.metrics[name]:g}, not of {truth.lag}")
        # A reading in whose middle the clock leaps has times of both.
        said += _old_as_new(name, row, found.now) if found.since_leap > LATE_SECONDS else []
    return said


def _old_as_new(name: str, row: dict[str, Any], now: datetime) -> list[str]:
    if row["taken_at"] is None or row["lag_messages"] is None:
        return []
    age = (now - datetime.fromisoformat(row["taken_at"])).total_seconds()
    if age <= LATE_SECONDS + SPARE_SECONDS:
        return []
    return [f"the lag of {name} is {age:.0f} s old and stands as one of now"]


class Watch:
    """Looks from its creation until `end`, in a thread."""

    def __init__(self, site: Launched) -> None:
        self._site = site
        self.looks: list[Look] = []
        self.lies: dict[str, float] = {}
        self._over = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join(240)

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            found = look(self._site)
            for lie in lies(found):
                self.lies.setdefault(lie, found.at - self._began)
            self.looks.append(found)
