"""The bench of logs, on a small one."""

from tests.bench.logs.log_body import write_log
from tests.bench.logs.log_following import follow


def test_every_commit_and_move_of_the_log_is_an_event_line(tmp_path):
    log = tmp_path / "rocketmq_client.log"
    write_log(log, 200_000)
    lines = log.read_text().splitlines()
    told = sum("[persistAll]" in line or "doRebalance" in line for line in lines)

    took = follow(log, tmp_path)

    assert (took["lines"], took["event_lines"], took["unknown_lines"]) == (len(lines), told, 0)
    # One for each queue, and each move of a queue.
    assert took["events"] == 40 + sum("doRebalance" in line for line in lines)
