"""`manage.py aggregate`: what it refuses before Spark starts, and its one line."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from consumers.models import GroupState, PipelineRun
from tests.pipeline_rows import T0, at, put, rows
from tests.world import a_cluster, a_group, a_queue, a_reading

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_redis(settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path}/no.sock"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"since": "2026-03-01T02:00:00"}, "--since must be a time with a zone"),
        ({"until": "yesterday"}, "--until must be a time with a zone"),
        ({"until": "2026-13-01T02:00:00Z"}, "--until must be a time with a zone"),
        ({"since": "2026-03-01T02:00:00Z", "until": "2026-03-01T02:00:00Z"}, "must lie before --until"),
        ({"cluster": "other"}, "There is no cluster 'other'"),
    ],
)
def test_it_refuses(options, sentence):
    a_cluster(read_at=None)
    with pytest.raises(CommandError, match=sentence):
        call_command("aggregate", **options)


def test_without_clusters_it_says_how_to_add_one():
    with pytest.raises(CommandError, match="cluster add NAME"):
        call_command("aggregate")


@pytest.mark.spark
@pytest.mark.usefixtures("no_redis", "spark")
def test_it_prints_one_json_line_and_records_the_run(settings, tmp_path):
    from consumers.lake.store import Lake

    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.SPARK_MASTER = "local[2]"
    cluster = a_cluster(read_at=None)
    a_group(cluster)
    a_queue(cluster)
    put(Lake.at(str(tmp_path)), "readings", rows([(n, n) for n in range(16)]))
    a_reading(cluster, at(225), brokers=[{"name": "broker-a", "read": True, "error": None}])
    out = StringIO()

    call_command("aggregate", since=T0.isoformat(), until=at(240).isoformat(), json=True, stdout=out)

    line = json.loads(out.getvalue())
    assert line.pop("seconds") > 0
    assert line == {
        "clusters": ["prod"],
        "since": "2026-03-01T02:00:00+00:00",
        "until": "2026-03-01T02:04:00+00:00",
        "readings": 16,
        "queues_judged": 1,
        "groups_judged": 1,
        "windows": 8,
        "rebalances": 0,
    }
    assert GroupState.objects.get().state == "OK"
    assert PipelineRun.objects.get().error is None
