from pathlib import Path

from dashboard.launch.supervisor import KEPT, Tail, last_lines, rotate


def test_it_keeps_the_last_logs_and_drops_the_oldest(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    for start in range(KEPT + 2):
        rotate(log)
        log.write_text(f"start {start}")
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert kept == {"web.log": "start 4", "web.log.1": "start 3", "web.log.2": "start 2", "web.log.3": "start 1"}


def test_it_rotates_nothing_where_there_is_no_log(tmp_path: Path) -> None:
    rotate(tmp_path / "web.log")
    assert list(tmp_path.iterdir()) == []


def test_it_shows_the_last_lines_that_say_something(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("one\ntwo\n\nthree\n\n")
    assert last_lines(log, 2) == ["two", "three"]


def test_it_shows_no_lines_of_a_log_that_is_not_there(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "web.log", 2) == []


def test_it_reads_each_line_once_and_only_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "demo.log"
    tail = Tail(log)
    seen = [tail.lines()]
    for text in ("one\ntw", "o\n", ""):
        with log.open("a") as file:
            file.write(text)
        seen.append(tail.lines())
    assert seen == [[], ["one"], ["two"], []]
