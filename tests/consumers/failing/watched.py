"""A cluster that is polled and judged by hand, and asked through REST, while its consumers fail."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
from pyspark.sql import SparkSession

from consumers.pipeline.durations import Durations
from consumers.pipeline.runs import recorded_run
from consumers.polling.poll import ClusterPoller

POLL_SECONDS = 1.5
# What is between two readings is known as long as no more than three of these lie between them.
JUDGED_AS_POLLED_EVERY = 15.0


class Watched:
    def __init__(self, poller: ClusterPoller, spark: SparkSession, api: Client, judge: dict[str, float]) -> None:
        self._poller, self._spark, self._api = poller, spark, api
        self._durations = Durations.of(judge, JUDGED_AS_POLLED_EVERY)
        self.since = self._begin()
        self.runs = 0

    def _begin(self) -> datetime:
        """A reading at the end of the minute before this one: from here on every window has one before it."""
        now = timezone.now()
        if now.second > 35:
            time.sleep(60.1 - now.second)
        minute = timezone.now().replace(second=0, microsecond=0)
        self._poller.poll(minute - timedelta(seconds=1))
        return minute

    def poll(self) -> datetime:
        began = time.monotonic()
        now = timezone.now()
        self._poller.poll(now)
        time.sleep(max(0.0, POLL_SECONDS - (time.monotonic() - began)))
        return now

    def poll_until(self, seen: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not seen():
            assert time.monotonic() < deadline
            self.poll()

    def aggregate(self) -> datetime:
        """A run of the pipeline over everything since the beginning, between two readings: what is told is fresh."""
        until = self.poll() + timedelta(milliseconds=1)
        name = self._poller.cluster.name
        lake = self._poller.settings.lake
        recorded_run(self._spark, lake, [name], self.since, until, self._durations, timezone.now())
        self.runs += 1
        self.poll()
        return until

    def retries(self, group: str, until: datetime) -> dict[str, Any]:
        path = f"/api/v1/groups/{self._poller.cluster.name}/{group}/retries/"
        answer = self._api.get(path, {"from": self.since.isoformat(), "to": until.isoformat()})
        assert answer.status_code == 200, answer.content
        return dict(answer.json())
