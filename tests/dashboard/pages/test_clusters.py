import re
from typing import Any

import pytest
from django.test import Client

from consumers.models import HistorySize, MachineClock, PipelineRun
from tests.log_rows import a_log_file
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_reading, ago

pytestmark = pytest.mark.django_db


def said(client: Client) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get("/clusters/").text.split("<main")[1]))


def test_it_tells_what_a_reading_cost(admin_client: Client) -> None:
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    a_reading(cluster, ago(5), queues=18_204, calls=4, bytes=1_940_000, seconds=0.41, record_seconds=0.2)
    assert "02:59:55 5 s ago complete 18,204 4 1.9 MB 0.41 s 0.2 s none" in said(admin_client)


def test_it_tells_what_was_not_read_and_why(admin_client: Client) -> None:
    cluster = a_cluster(read_at=None)
    a_dead_broker(cluster)
    a_reading(cluster, ago(5), complete=False, brokers=[{"name": "broker-b", "read": False, "error": "timed out"}])
    assert "partial" in said(admin_client)
    assert "broker-b: timed out" in said(admin_client)
    assert "1 partial" in said(admin_client)


def test_it_shows_each_broker_with_its_version_age_and_cost(admin_client: Client) -> None:
    cluster = a_cluster(read_at=None)
    a_broker(cluster, version="V5_4_0", dispatch_behind_bytes=2_100)
    entry = {"name": "broker-a", "read": True, "error": None, "calls": 2, "bytes": 1_900_000, "seconds": 0.41}
    a_reading(cluster, ago(5), brokers=[entry])
    assert (
        "broker-a master 127.0.0.1:10911 V5_4_0 unknown : its configuration was not read yet"
        " 2.1 kB 5 s ago 2 1.9 MB 0.41 s none" in said(admin_client)
    )


def test_a_broker_that_was_not_asked_for_too_long_has_a_problem(admin_client: Client) -> None:
    a_broker(a_cluster(read_at=ago(7200)), last_read_at=ago(7200))
    text = said(admin_client).split("Scrapes in")[0]
    assert text.endswith(" broker-a has not been read for more than 45 s ")


def test_a_slave_has_no_cost_of_its_own(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_broker(cluster, broker_id=1, address="10.0.0.2:10911")
    assert (
        "broker-a slave 1 10.0.0.2:10911 V5_4_0 unknown : only masters are asked for their configuration"
        " unknown : a slave is read only while its master does not answer"
        " 5 s ago counted with its master none" in said(admin_client)
    )


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"file_reserved_hours": 72}, "72 h"),
        (
            {"file_reserved_hours": 72, "delete_when": "4;16", "disk_max_used_percent": 75},
            "72 h, deleted at 04:00, 16:00 by its clock, sooner above 75 % disk use",
        ),
    ],
)
def test_it_says_how_long_a_broker_keeps_messages(admin_client: Client, config: dict[str, Any], words: str) -> None:
    a_broker(a_cluster(), config_at=ago(60), **config)
    assert f'<td class="sentence">{words}</td>' in admin_client.get("/clusters/").text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "its configuration was not read yet"),
        ({"config_error": "no permission"}, "no permission"),
        ({"config_at": ago(60)}, "not in its configuration"),
        ({"broker_id": 1}, "only masters are asked for their configuration"),
    ],
)
def test_a_retention_that_is_not_known_is_unknown(admin_client: Client, fields: dict[str, Any], reason: str) -> None:
    a_broker(a_cluster(), **fields)
    assert f'title="{reason}' in admin_client.get("/clusters/").text


def test_a_version_that_is_not_known_is_unknown(admin_client: Client) -> None:
    a_broker(a_cluster(), version=None, last_read_at=None)
    assert "broker-a master 127.0.0.1:10911 unknown" in said(admin_client)


def test_a_reading_that_was_not_recorded_has_no_zero_seconds(admin_client: Client) -> None:
    cluster = a_cluster(read_at=None)
    a_reading(cluster, ago(5), record_seconds=None)
    assert "0.41 s unknown" in said(admin_client)


def test_it_tells_what_a_run_judged_and_why_one_failed(admin_client: Client) -> None:
    PipelineRun.objects.create(
        since=ago(60), until=ago(30), started_at=ago(30), finished_at=ago(28), error="out of memory"
    )
    text = said(admin_client)
    assert "out of memory" in text
    assert "1 failed in the last hour" in text
    assert "unknown : the run failed" in text


def test_a_run_that_goes_on_has_no_numbers_yet(admin_client: Client) -> None:
    PipelineRun.objects.create(since=ago(60), until=ago(30), started_at=ago(3))
    assert "unknown : the run has not finished" in said(admin_client)


def test_without_a_cluster_it_tells_the_command_that_adds_one(admin_client: Client) -> None:
    assert "manage.py cluster add" in said(admin_client)


def test_without_a_reading_it_tells_the_command_that_takes_one(admin_client: Client) -> None:
    a_cluster(read_at=None)
    assert "manage.py poll --cluster prod" in said(admin_client)


def test_a_broker_that_a_slave_stood_in_for_says_so(admin_client: Client) -> None:
    cluster = a_cluster(read_at=None)
    a_broker(cluster, reachable=False, read_from="10.0.0.2:10911", error="connection refused")
    entry = {"name": "broker-a", "read": True, "error": "connection refused", "read_from": "10.0.0.2:10911"}
    a_reading(cluster, ago(5), brokers=[entry])
    text = said(admin_client)
    assert "read from slave 10.0.0.2:10911; its consumer offsets may lag by up to 63 s connection refused" in text
    assert "broker-a: read from slave 10.0.0.2:10911" in text


def test_certificates_that_are_not_verified_are_shown_as_such(admin_client: Client) -> None:
    a_cluster(tls={"ca": None, "certificate": None, "key": None, "verify": False})
    assert "TLS, certificates not verified" in said(admin_client)


@pytest.mark.parametrize(("named", "is_said"), [(["prod"], True), (["other"], False)])
def test_a_read_only_cluster_says_so(admin_client: Client, settings: Any, named: list[str], is_said: bool) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = named
    a_cluster()
    assert (" read-only " in said(admin_client)) is is_said


@pytest.mark.parametrize(("doubt", "warned"), [("new", False), ("changed", True)])
def test_a_clock_that_was_never_watched_before_is_no_warning(admin_client, doubt, warned):
    a_cluster()
    times = {"seen_at": NOW, "doubt_at": NOW, "uptime_seconds": 60, "steady_seconds": 60}
    MachineClock.objects.create(boot="boot-1", name="host-1", doubt=doubt, **times)
    clock = admin_client.get("/clusters/").text.partition('<section id="clock">')[2].partition("</section>")[0]
    assert "nothing is deleted by age" in clock
    assert ("in doubt" in clock) is warned


def a_measure(**fields: Any) -> None:
    days = [["2026-03-12", 1_000_000], ["2026-03-13", 3_000_000]]
    hours = {"bytes": 9_000_000, "first_day": "2026-03-01", "oldest_whole_day": days[0], "newest_whole_days": days}
    values = {"measured_at": ago(720), "seconds": 0.1, "free_bytes": 30_000_000_000} | fields
    HistorySize.objects.create(tables={"prod": {"windows_3600": hours}}, **values)


def test_it_tells_how_much_room_the_history_takes_and_how_long_the_disk_lasts(admin_client: Client, settings) -> None:
    settings.LAKE_DISK_FLOOR_MIB = 512
    a_cluster()
    a_measure(free_bytes=512 * 1024 * 1024 + 7_000_000)
    text = said(admin_client)
    assert (
        "History 9.0 MB growth per day 2.0 MB free disk space 544 MB disk floor reached in 3 d 12 h measured 12 min ago"
        in text
    )
    assert "1-hour windows 730 days 9.0 MB 2.0 MB" in text
    assert "10-minute windows 90 days 0 B 0 B" in text


def test_it_tells_how_long_history_is_kept_before_its_size_is_measured(admin_client: Client) -> None:
    a_cluster()
    text = said(admin_client)
    assert "History size unknown" in text
    assert "not measured yet" in text
    assert re.search(r"1-day windows \(UTC\) 1,825 days unknown", text)


def test_a_store_of_objects_has_no_end_that_is_known(admin_client: Client) -> None:
    a_cluster()
    a_measure(free_bytes=None)
    text = said(admin_client)
    assert "free disk space unknown" in text
    assert "disk floor reached in unknown" in text


@pytest.mark.parametrize(("read_at", "problem"), [(ago(5), "none"), (ago(600), "not read to its end lately")])
def test_a_log_that_is_not_read_any_more_is_not_said_to_have_no_problem(
    admin_client: Client, read_at: Any, problem: str
) -> None:
    a_log_file(a_cluster(), read_at=read_at)
    assert f"30 s ago {problem} Scrapes" in said(admin_client)


def test_a_slave_that_nobody_asked_is_not_said_to_have_no_problem(admin_client: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster, broker_id=1, last_read_at=None, reachable=None)
    assert "counted with its master not scraped" in said(admin_client)
