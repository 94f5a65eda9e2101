"""Files in a folder, followed over appends, rotations, truncations and mistakes."""

import gzip
import os
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.logs.follow import FollowRules, follow_cluster, forget_old, machine_zone
from consumers.logs.globs import BLOCK_BYTES
from consumers.models import LogEvent, LogFile
from tests.world import a_cluster

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 23, 14, 0, tzinfo=UTC)
RULES = FollowRules(
    run_bytes=64 * 2**20, backfill_bytes=2**30, most_files=50, kept=timedelta(days=7), machine_zone=ZoneInfo("UTC")
)


def added(queue, at="13:59:59"):
    """A line of a client before 5.0."""
    text = f"2026-11-23 {at},000 INFO RocketmqClient - doRebalance, g, add a new mq, "
    return f"{text}MessageQueue [topic=Orders, brokerName=broker-a, queueId={queue}]\n".encode()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "rocketmq_client.log"


@pytest.fixture
def cluster(tmp_path):
    return a_cluster(client_logs=f"{tmp_path}/rocketmq_client.log", read_at=None)


def write(path, body, *, at=NOW, mode="ab"):
    with path.open(mode) as file:
        file.write(body)
    os.utime(path, (at.timestamp(), at.timestamp()))


def follow(cluster, *, at=NOW, **rules):
    follow_cluster(cluster, at, RULES if not rules else FollowRules(**(vars(RULES) | rules)))


def queues():
    return list(LogEvent.objects.order_by("file", "position").values_list("queue_id", flat=True))


def the_file():
    return LogFile.objects.exclude(identity="").get(gone_at=None)


def problems():
    found = LogFile.objects.filter(gone_at=None).exclude(problem=None)
    return [(row.path.rsplit("/", 1)[1], row.problem["code"], row.problem["params"]) for row in found]


def test_what_is_appended_is_read_once(cluster, log):
    write(log, added(0))
    follow(cluster)
    write(log, added(1) + b"nothing\n")
    follow(cluster)
    follow(cluster)
    assert queues() == [0, 1]
    file = the_file()
    assert (file.lines, file.event_lines, file.offset, file.read_at) == (3, 2, log.stat().st_size, NOW)


def test_an_event_has_its_time_place_and_group(cluster, log):
    write(log, b"x\n" + added(3))
    follow(cluster)
    event = LogEvent.objects.get()
    assert (event.code, event.group, event.topic, event.broker, event.queue_id) == (
        "queue_added",
        "g",
        "Orders",
        "broker-a",
        3,
    )
    assert (event.at, event.began_at, event.position) == (NOW - timedelta(seconds=1), NOW - timedelta(seconds=1), 2)


def test_half_a_line_waits_for_the_rest(cluster, log):
    write(log, added(0) + added(1)[:40])
    follow(cluster)
    assert queues() == [0]
    write(log, added(1)[40:])
    follow(cluster)
    assert queues() == [0, 1]


def test_a_log_that_is_renamed_is_read_to_its_end_and_the_next_from_its_beginning(cluster, log, tmp_path):
    write(log, added(0))
    follow(cluster)
    write(log, added(1))
    log.rename(tmp_path / "rocketmq_client.log.1")
    write(log, added(2))
    follow(cluster)
    assert sorted(queues()) == [0, 1, 2]
    assert {row.path for row in LogFile.objects.all()} == {str(log), f"{log}.1"}


def test_a_renamed_log_that_the_glob_matches_is_not_read_again(log, tmp_path):
    cluster = a_cluster(client_logs=f"{tmp_path}/*.log*", read_at=None)
    write(log, added(0))
    follow(cluster)
    log.rename(tmp_path / "rocketmq_client.log.1")
    write(log, added(1))
    follow(cluster)
    assert sorted(queues()) == [0, 1]


def test_a_log_that_is_packed_before_it_was_read_says_what_may_be_missing(cluster, log, tmp_path):
    write(log, added(0))
    follow(cluster)
    (tmp_path / "rocketmq_client-1.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    (tmp_path / "holds the inode").touch()
    write(log, added(1))
    follow(cluster, at=NOW + timedelta(seconds=15))
    gone = LogFile.objects.get(gone_at=NOW + timedelta(seconds=15))
    assert gone.problem == {"code": "replaced_unread", "params": {"read_at": NOW.isoformat()}}
    assert sorted(queues()) == [0, 1]


def test_a_log_that_is_emptied_is_read_from_its_beginning(cluster, log):
    write(log, added(0) + added(1))
    follow(cluster)
    write(log, added(2), mode="wb")
    follow(cluster)
    assert sorted(queues()) == [0, 1, 2]
    assert (the_file().truncations, the_file().offset) == (1, len(added(2)))


def test_a_log_that_is_emptied_and_grew_beyond_its_place_is_known_by_its_head(cluster, log):
    write(log, added(0))
    follow(cluster)
    write(log, added(7, at="13:59:58") + added(8), mode="wb")
    follow(cluster)
    assert sorted(queues()) == [0, 7, 8]
    assert the_file().truncations == 1


def test_packed_files_are_counted_and_left_alone(log, tmp_path):
    cluster = a_cluster(client_logs=f"{tmp_path}/*", read_at=None)
    (tmp_path / "rocketmq_client-1.log.gz").write_bytes(gzip.compress(added(0)))
    write(log, added(1))
    follow(cluster)
    assert (queues(), problems()) == ([1], [("*", "glob.packed", {"files": 1})])


def test_a_run_reads_no_more_than_its_bytes_and_the_next_goes_on(cluster, log):
    write(log, b"".join(added(number) for number in range(10)))
    follow(cluster, run_bytes=4 * len(added(0)))
    assert (queues(), the_file().read_at) == ([0, 1, 2, 3], None)
    follow(cluster)
    assert (queues(), the_file().read_at) == (list(range(10)), NOW)


def test_a_large_log_is_begun_near_its_end_and_says_what_was_skipped(cluster, log):
    write(log, b"".join(added(number) for number in range(10)))
    follow(cluster, backfill_bytes=2 * len(added(0)))
    assert (queues(), the_file().skipped_bytes, the_file().unknown_lines) == ([8, 9], 8 * len(added(0)), 0)


def test_a_line_without_an_end_that_is_longer_than_any_block_is_left_behind(cluster, log):
    write(log, added(0) + b"x" * (2 * BLOCK_BYTES) + b"\n" + added(1))
    follow(cluster)
    assert (queues(), the_file().long_lines) == ([0, 1], 1)


def test_a_zone_that_differs_from_the_machines_by_hours_is_an_error_and_nothing_is_read(cluster, log):
    write(log, added(0, at="21:59:59"))
    follow(cluster)
    assert (queues(), problems()) == ([], [(log.name, "zone_differs", {"zone": "UTC", "minutes": -480})])
    assert the_file().offset == 0


def test_a_zone_that_is_named_reads_what_was_held_back(cluster, log, tmp_path):
    write(log, added(0, at="21:59:59"))
    follow(cluster)
    cluster.client_logs = f"Asia/Shanghai={tmp_path}/rocketmq_client.log"
    follow(cluster)
    file = the_file()
    assert (queues(), problems(), file.zone, file.zone_basis) == ([0], [], "Asia/Shanghai", "named")
    assert LogEvent.objects.get().at == NOW - timedelta(seconds=1)


def test_a_log_that_was_written_long_after_its_last_line_is_read(cluster, log):
    write(log, added(0), at=NOW + timedelta(minutes=38))
    follow(cluster)
    assert (queues(), the_file().zone_agrees_at) == ([0], None)


def test_a_log_whose_last_line_is_that_of_its_last_write_says_so(cluster, log):
    write(log, added(0))
    follow(cluster)
    assert (the_file().zone_agrees_at, the_file().zone_basis, the_file().form) == (NOW, "machine", "client_4")


def test_what_is_no_log_is_an_error(cluster, log):
    write(log, b"[gc] pause 3 ms\n")
    follow(cluster)
    assert problems() == [(log.name, "form_unknown", {})]


def test_a_link_that_leads_out_of_the_globs_folder_is_not_opened(log, tmp_path):
    inside, outside = tmp_path / "logs", tmp_path / "secret.log"
    inside.mkdir()
    write(outside, added(0))
    (inside / "rocketmq_client.log").symlink_to(outside)
    follow(a_cluster(client_logs=f"{inside}/*.log", read_at=None))
    assert (queues(), problems()) == ([], [("rocketmq_client.log", "link_outside", {})])


def test_a_pipe_keeps_nobody_waiting(cluster, log):
    os.mkfifo(log)
    follow(cluster)
    assert problems() == [(log.name, "no_file", {})]


def test_two_names_of_one_file_are_read_once(log, tmp_path):
    write(log, added(0))
    (tmp_path / "other.log").hardlink_to(log)
    follow(a_cluster(client_logs=f"{tmp_path}/*.log", read_at=None))
    assert queues() == [0]


def test_an_error_ends_with_its_cause(cluster, log):
    follow(cluster)
    assert problems() == [(log.name, "no_file", {})]
    write(log, added(0))
    follow(cluster)
    assert (problems(), queues()) == ([], [0])


def test_a_file_beyond_the_most_is_said_to_be_unread(tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.log", added(0))
    follow(a_cluster(client_logs=f"{tmp_path}/*.log", read_at=None), most_files=1)
    assert problems() == [("*.log", "glob.too_many", {"most": 1})]
    assert queues() == [0]


def test_a_glob_that_is_taken_back_ends_its_files_without_a_complaint(cluster, log):
    write(log, added(0))
    follow(cluster)
    cluster.client_logs = ""
    follow(cluster)
    [file] = LogFile.objects.all()
    assert (file.gone_at, file.problem) == (NOW, None)


def test_commits_of_several_runs_are_one_event(cluster, log):
    text = (
        "2026-11-23 13:59:%s,000 INFO RocketmqClient - [persistAll] Group: g ClientId: c updateConsumeOffsetToBroker "
    )
    queue = "MessageQueue [topic=Orders, brokerName=broker-a, queueId=0] %d\n"
    write(log, (text % 50 + queue % 7).encode())
    follow(cluster)
    write(log, (text % 55 + queue % 9).encode())
    follow(cluster)
    event = LogEvent.objects.get()
    assert (event.lines, event.at - event.began_at, event.params) == (
        2,
        timedelta(seconds=5),
        {"offset": 9, "low_offset": 7, "high_offset": 9},
    )


def test_events_and_files_that_are_gone_are_kept_for_their_time(cluster, log):
    write(log, added(0))
    follow(cluster)
    log.unlink()
    follow(cluster)
    forget_old(NOW + timedelta(days=6), RULES)
    assert queues() == [0]
    forget_old(NOW + timedelta(days=7, seconds=1), RULES)
    assert (queues(), LogFile.objects.exclude(identity="").count()) == ([], 0)


def test_lines_older_than_events_are_kept_are_counted_and_not_stored(cluster, log):
    write(log, added(0))
    follow(cluster, at=NOW + timedelta(days=8))
    assert (queues(), the_file().event_lines) == ([], 1)


def test_the_machines_zone_is_that_of_its_localtime(tmp_path):
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Asia/Shanghai")
    assert str(machine_zone(str(link))) == "Asia/Shanghai"
    assert machine_zone(str(tmp_path / "none")) == UTC


WHOLE = b"".join(added(number) for number in range(3)) + b"a trace\n\tat x\n" + added(9)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=4).map(sorted))
def test_a_log_cut_anywhere_tells_the_same(cluster, log, cuts):
    log.unlink(missing_ok=True)
    LogFile.objects.all().delete()
    for start, end in zip([0, *cuts], [*cuts, len(WHOLE)], strict=True):
        write(log, WHOLE[start:end])
        follow(cluster)
    assert (queues(), the_file().lines, the_file().unknown_lines) == ([0, 1, 2, 9], 6, 0)
