import re
from datetime import UTC, datetime, timedelta

from dashboard.figures.fired_bars import Bar, Gap, incident_bars

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def drawn(*bars: Bar, titles: tuple[str, ...] = ("billing",), gaps: tuple[Gap, ...] = ()) -> str:
    return incident_bars(titles, bars, gaps, NOW - HOUR, NOW, "When")


def bar(began: float, over: float, line: int = 0, *, kind: str = "fired", text: str = "billing: fired") -> Bar:
    return Bar(line, NOW - timedelta(minutes=began), NOW - timedelta(minutes=over), kind, text)


def test_a_bar_lies_from_the_firing_to_the_end() -> None:
    assert 'x="50.00%" y="19" width="24.50%"' in drawn(bar(30, 15))


def test_what_lies_outside_the_range_is_cut() -> None:
    assert 'x="1.00%" y="19" width="98.00%"' in drawn(bar(90, -30))


def test_the_shortest_is_still_seen() -> None:
    assert 'width="0.40%"' in drawn(bar(30, 30))


def test_each_subject_has_a_line_with_its_name() -> None:
    drawing = drawn(bar(30, 15), bar(30, 15, 1), titles=("billing", "audit"))
    assert re.findall(r'<rect class="fired" x="50.00%" y="(\d+)"', drawing) == ["19", "53"]
    assert ">billing</text>" in drawing
    assert ">audit</text>" in drawing


def test_one_that_fires_still_is_marked() -> None:
    assert '<rect class="fired open"' in drawn(bar(30, 0, kind="fired open"))


def test_what_evaluations_found_lies_below() -> None:
    assert '<rect class="evaluated" x="50.00%" y="30" width="24.50%" height="3">' in drawn(
        bar(30, 15, kind="evaluated")
    )


def test_what_is_not_known_is_hatched() -> None:
    gap = Gap(0, NOW - HOUR / 2, NOW, "billing: not known <b>")
    hatched = '<rect x="50.00%" y="19" width="49.00%" height="10" fill="url(#hatch)">'
    assert f"{hatched}<title>billing: not known &lt;b&gt;</title>" in drawn(gaps=(gap,))


def test_what_is_not_known_of_any_is_hatched_across_all() -> None:
    gap = Gap(None, NOW - HOUR / 2, NOW, "no data")
    drawing = drawn(titles=("billing", "audit"), gaps=(gap,))
    hatched = '<rect x="50.00%" y="4" width="49.00%" height="68" fill="url(#hatch)"><title>no data</title>'
    assert hatched in drawing
    assert drawing.index(hatched) < drawing.index(">billing</text>"), "names stand on it"
    assert 'height="10" fill="url(#hatch)"><title>no data' in drawn(titles=(), gaps=(gap,))


def test_it_escapes_what_it_tells() -> None:
    drawing = drawn(bar(30, 15, text="<b>"), titles=("<i>",))
    assert "<title>&lt;b&gt;</title>" in drawing
    assert "&lt;i&gt;</text>" in drawing
