"""Readings of one cluster's members, recorded one after the other."""

from dataclasses import replace

import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, broker, members, reading, row


@pytest.fixture
def observe(tmp_path, db):
    """`stand_in`: the slave that answered in the place of broker-a's master."""
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))
    rows = [row("billing", topic, queue_id, 7, 10) for topic in ("Orders", "%RETRY%billing") for queue_id in range(2)]

    def observe(seconds, groups, clients=(), stand_in=None):
        part = replace(broker("broker-a", *rows), read_from=stand_in)
        recorder.record(reading(seconds, part), members(seconds, groups, clients), lake)

    return observe
