"""/readyz: every part with its age, and 503 as soon as one is not well."""

import socket
import threading
from datetime import timedelta
from types import SimpleNamespace

import psycopg
import pytest
import time_machine
from django.db import OperationalError, connection
from django.test import Client

from consumers.clusters.pipeline_runs import late_evaluation
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.lake.reader import files
from consumers.lake.store import Lake
from consumers.lake.unreadable import put_aside
from consumers.models import Cluster, GroupHealth, PipelineRun, Reading
from dashboard import health
from dashboard.health import readiness
from dashboard.metrics.families import scrape
from tests.alert_rows import a_channel, a_delivery, an_evaluation
from tests.pipeline_rows import at, put, rows
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_reading, ago

pytestmark = pytest.mark.django_db
UNJUDGED = ["spark_worker", "judgement"]


@pytest.fixture(autouse=True)
def redis_server(settings):
    """A socket that answers PONG to every PING, as Redis does, and OK to what a client says of itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}/0?protocol=2"
        threading.Thread(target=_answer, args=(server,), daemon=True).start()
        yield server
        server.shutdown(socket.SHUT_RDWR)


def _answer(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            while data := connection.recv(4096):
                for command in data.split(b"*")[1:]:
                    connection.sendall(b"+PONG\r\n" if b"PING" in command else b"+OK\r\n")


def a_run(until, **fields):
    times = {"since": until - timedelta(minutes=1), "started_at": until, "finished_at": until + timedelta(seconds=3)}
    PipelineRun.objects.create(until=until, **(times | fields))


def test_it_is_ready_without_a_cluster_and_says_so():
    seen = readiness(NOW)
    assert (seen.ready, seen.readings) == (True, {})
    assert seen.detail == "no cluster is registered: 'manage.py cluster add' registers one"


def test_it_is_ready_when_everything_is_fresh():
    a_cluster(read_at=ago(5))
    a_run(ago(20))
    an_evaluation(ago(20))

    seen = readiness(NOW)

    assert (seen.ready, seen.detail) == (True, "every part is well")
    assert (seen.readings["prod"].age_seconds, seen.parts["judgement"].age_seconds) == (5, 20)
    assert (seen.parts["poll_worker"].age_seconds, seen.parts["spark_worker"].age_seconds) == (5, 20)


@pytest.mark.parametrize(
    ("read_at", "sentence"),
    [
        (None, "reading of prod: it has not been scraped yet"),
        (ago(46), "reading of prod: the last reading is older than 45 s"),
    ],
)
def test_it_is_not_ready_without_a_reading_of_each_cluster(read_at, sentence):
    a_cluster("well", read_at=ago(5))
    a_cluster("prod", read_at=read_at)
    a_run(ago(20))
    an_evaluation(ago(20))

    seen = readiness(NOW)

    assert (seen.ready, seen.readings["well"].well, seen.detail) == (False, True, sentence)


def test_it_does_not_take_a_reading_that_reached_no_broker_for_one():
    cluster = a_cluster(read_at=None)
    a_reading(cluster, ago(5), complete=False, error="no name server answered")
    a_run(ago(20))
    assert readiness(NOW).readings["prod"].detail == "it has not been scraped yet"


def test_it_is_ready_before_the_first_judgement_is_due():
    a_cluster(read_at=ago(5))
    Cluster.objects.update(created_at=ago(60))

    seen = readiness(NOW)

    assert (seen.ready, seen.parts["judgement"].detail) == (True, "nothing has been judged yet")
    assert seen.parts["judgement"].age_seconds is None


def test_it_is_not_ready_when_no_judgement_came_though_it_should_have():
    a_cluster(read_at=ago(5))
    seen = readiness(NOW)
    assert (seen.ready, seen.parts["judgement"].well, seen.parts["spark_worker"].well) == (False, False, False)


def test_it_waits_for_a_run_that_is_under_way():
    a_cluster(read_at=ago(5))
    a_run(ago(200))
    a_run(ago(300), started_at=ago(290), finished_at=None)
    assert readiness(NOW).parts["spark_worker"].well


def test_a_general_worker_that_noted_no_health_for_long_has_stopped():
    group = a_group(a_cluster())
    GroupHealth.objects.create(group=group, level="ok", noted_at=ago(59))
    assert readiness(NOW).parts["general_worker"].well

    GroupHealth.objects.update(noted_at=ago(61))

    part = readiness(NOW).parts["general_worker"]
    assert (part.well, part.age_seconds) == (False, 61)
    assert part.detail == "it has stopped working: see that a worker of the queue general runs"


@pytest.mark.parametrize(("seen_at", "well"), [(ago(59), True), (ago(61), False)])
def test_a_general_worker_that_has_looked_at_no_group_has_time_for_it(seen_at, well):
    a_group(a_cluster(), first_seen_at=seen_at)
    part = readiness(NOW).parts["general_worker"]
    assert (part.well, part.detail, part.age_seconds) == (well, "it has looked at no group yet", None)


def test_it_says_that_redis_does_not_answer(settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    seen = readiness(NOW)
    assert (seen.ready, seen.parts["redis"].well) == (False, False)
    assert seen.detail.startswith("redis: Redis does not answer")


def test_it_says_that_the_disk_is_below_its_floor(settings):
    settings.LAKE_DISK_FLOOR_MIB = 1e12
    seen = readiness(NOW)
    assert (seen.ready, seen.parts["disk"].well) == (False, False)
    assert "no history is written" in seen.detail


def test_it_says_that_the_disk_of_the_database_is_below_the_floor(settings, monkeypatch, tmp_path):
    home = tmp_path / "home"
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    monkeypatch.setattr(health, "free_mib", lambda lake: 5.0 if lake.root == str(home) else 9000.0)
    file = {"vendor": "sqlite", "is_in_memory_db": lambda: False, "settings_dict": {"NAME": home / "rows.sqlite3"}}
    monkeypatch.setattr(health, "connection", SimpleNamespace(**file))
    part = readiness(NOW).parts["disk"]
    assert not part.well
    assert part.detail == "5 MiB free, less than the floor of 512 MiB: nothing is recorded once it is full"


def test_a_bucket_has_no_floor(settings, monkeypatch):
    settings.CONSUMERSCOPE_LAKE = "s3://me:x@bucket/lake?region=eu-west-1"
    settings.LAKE_DISK_FLOOR_MIB = 1e12
    part = readiness(NOW).parts["disk"]
    assert (part.well, part.detail) == (True, "history lies in an object store, which has no floor")


def test_it_says_that_a_bucket_does_not_answer(settings, s3, tmp_path):
    settings.CONSUMERSCOPE_LAKE = s3.location(tmp_path.name, max_attempts=1)
    s3.fail()
    part = readiness(NOW).parts["history"]
    assert not part.well
    assert "AWS Error NETWORK_CONNECTION" in part.detail
    s3.serve()
    assert readiness(NOW).parts["history"].well


@pytest.fixture
def lake(settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    return Lake.at(str(tmp_path))


def test_it_says_that_history_is_not_written(lake):
    a_cluster(read_at=ago(5))
    Reading.objects.update(members={"history_error": "Read-only file system"})
    part = readiness(NOW).parts["history"]
    assert (part.well, part.detail.endswith("prod: Read-only file system")) == (False, True)


def test_it_names_files_of_history_that_were_put_aside_and_keeps_nobody_out(lake):
    assert readiness(NOW).parts["history"].detail.startswith("it is written")
    put(lake, "readings", rows([(1, 1)]))
    [name] = files(lake, "readings", "prod", at(0), at(60))
    put_aside(lake, name, "its end is missing")
    part = readiness(NOW).parts["history"]
    assert part.well
    assert part.detail.startswith("1 file could not be read, and what they held is missing")
    assert "readings/cluster=prod/date=2026-03-01/hour=02/" in part.detail


def test_it_answers_with_the_status_that_a_balancer_understands(client: Client):
    assert client.get("/readyz").status_code == 200
    with time_machine.travel(NOW, tick=False):
        a_cluster(read_at=ago(3600))
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["poll_worker"]) == (503, {"well": False})


@pytest.fixture
def secretive_world(settings):
    """All that it says of what is wrong has a name in it that strangers are not told."""
    settings.REDIS_URL = "unix:///nowhere/redis.secret.sock"
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod-secret", "misspelt-secret"]
    a_cluster("prod-secret", read_at=ago(3600))
    an_evaluation(ago(20), error="OperationalError: secret", error_at=ago(5))
    a_delivery(a_channel("channel-secret"), status="waiting", created_at=ago(400))
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.mark.usefixtures("secretive_world")
@pytest.mark.parametrize("headers", [{}, {"authorization": "Token wrong"}, {"cookie": "sessionid=wrong"}])
def test_a_stranger_is_told_which_parts_are_well_and_nothing_else(client: Client, headers):
    answer = client.get("/readyz", headers=headers)
    assert (answer.status_code, "secret" in answer.content.decode()) == (503, False)
    said = answer.json()
    assert set(said) == {"ready", "detail", "parts"}
    assert all(set(part) == {"well"} for part in said["parts"].values())
    assert [name for name, part in said["parts"].items() if not part["well"]] == ["redis", "poll_worker", *UNJUDGED]


@pytest.mark.usefixtures("secretive_world")
@pytest.mark.parametrize("by_token", [True, False])
def test_who_is_logged_in_is_told_all_of_it(api: Client, admin_client: Client, by_token):
    answer = (api if by_token else admin_client).get("/readyz")
    said = answer.json()
    assert (answer.status_code, said["readings"]["prod-secret"]["age_seconds"]) == (503, 3600)
    assert "redis.secret.sock" in said["parts"]["redis"]["detail"]
    assert "channel-secret" in said["parts"]["alerts"]["detail"]
    assert {"Cookie", "Authorization"} <= set(answer["Vary"].split(", "))


def test_without_the_database_nobody_is_known(admin_client: Client):
    def goes_away(execute, sql, *rest):
        raise OperationalError("could not connect to db.secret") from psycopg.OperationalError("refused")

    with connection.execute_wrapper(goes_away):
        answer = admin_client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, {"well": False})
    assert "secret" not in answer.content.decode()


def test_a_read_only_name_that_no_cluster_bears_is_told_and_keeps_nobody_out(settings):
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod", "pord"]
    a_cluster(read_at=ago(5))
    a_run(ago(20))
    an_evaluation(ago(20))
    seen = readiness(NOW)
    assert seen.ready
    assert seen.parts["read_only_clusters"].detail.endswith("CONSUMERSCOPE_READ_ONLY_CLUSTERS: pord")


def test_it_names_the_read_only_clusters(settings):
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_cluster(read_at=ago(5))
    part = readiness(NOW).parts["read_only_clusters"]
    assert (part.well, part.detail) == (True, "prod")


@pytest.mark.parametrize("seconds", [269, 271])
def test_the_readiness_the_metric_the_banner_and_the_rows_agree_how_old_the_evaluation_is(seconds):
    cluster = a_cluster(read_at=ago(5))
    a_broker(cluster)
    a_judged_group(a_group(cluster), "STALL", judged_at=ago(seconds))
    a_run(ago(seconds))
    a_run(ago(20), error="The disk is full.")

    part, late = readiness(NOW).parts["judgement"], late_evaluation(NOW)
    metrics = {family.name: dict(family.samples) for family in scrape(NOW).families}
    [row] = group_list(GroupFilters(), now=NOW).rows

    assert part.age_seconds == metrics["consumerscope_judgement_age_seconds"][()] == seconds
    assert row.judged_at == ago(seconds)
    assert (part.well, late is None, row.stale) == ((True, True, False) if seconds == 269 else (False, False, True))
    assert list(metrics["consumerscope_group_state_age_seconds"].values()) == ([271.0] if seconds == 271 else [])
    if late is not None:
        assert late.since == ago(seconds)
        assert part.detail == "older than 270 s: The disk is full."
