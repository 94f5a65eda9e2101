import re
from datetime import UTC, datetime, timedelta

from dashboard.svg.incident_bars import Bar, incident_bars

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def drawn(*bars: Bar, titles: tuple[str, ...] = ("billing",)) -> str:
    return incident_bars(titles, bars, NOW - HOUR, NOW, "When")


def bar(began: float, over: float, line: int = 0, *, is_open: bool = False, text: str = "billing: fired") -> Bar:
    return Bar(line, NOW - timedelta(minutes=began), NOW - timedelta(minutes=over), is_open, text)


def test_a_bar_lies_from_the_firing_to_the_end() -> None:
    assert 'x="50.00%" y="19" width="24.50%"' in drawn(bar(30, 15))


def test_what_lies_outside_the_range_is_cut() -> None:
    assert 'x="1.00%" y="19" width="98.00%"' in drawn(bar(90, -30))


def test_the_shortest_is_still_seen() -> None:
    assert 'width="0.40%"' in drawn(bar(30, 30))


def test_each_subject_has_a_line_with_its_name() -> None:
    drawing = drawn(bar(30, 15), bar(30, 15, 1), titles=("billing", "audit"))
    assert re.findall(r'<rect class="fired" x="50.00%" y="(\d+)"', drawing) == ["19", "49"]
    assert ">billing</text>" in drawing
    assert ">audit</text>" in drawing


def test_one_that_fires_still_is_marked() -> None:
    assert '<rect class="fired open"' in drawn(bar(30, 0, is_open=True))


def test_it_escapes_what_it_tells() -> None:
    drawing = drawn(bar(30, 15, text="<b>"), titles=("<i>",))
    assert "<title>&lt;b&gt;</title>" in drawing
    assert "&lt;i&gt;</text>" in drawing
