from datetime import UTC, datetime, timedelta

from dashboard.figures.layout import Figure, Line
from dashboard.figures.log_scale import logarithmic
from dashboard.figures.time_lines import Scale, lag_lines, time_lines
from dashboard.wording.numbers import duration

STEP = timedelta(minutes=1)
START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)
MESSAGES = Scale("messages", "messages")
TIME = Scale("time lag", words=duration)


def lag(*values: float | None, live: float | None = None) -> Figure:
    line = Line("total", values, [None if value is not None else "broker-b is silent" for value in values])
    until = START + STEP * len(values)
    now = None if live is None else (until, live)
    return logarithmic(
        lag_lines([START + STEP * i for i in range(len(values))], STEP, line, [], [], live=now, until=until), MESSAGES
    )


def time_lag(*values: float | None) -> Figure:
    line = Line("time lag", values, [None] * len(values))
    starts = [START + STEP * i for i in range(len(values))]
    return logarithmic(time_lines(starts, STEP, [(line, "var(--line)")], TIME, [], until=START + STEP), TIME)


def test_zero_stays_a_point_at_the_foot_and_tenfold_is_one_step_higher() -> None:
    assert lag(0, 9, 99, 999)["data"][0]["y"] == [0, 1, 2, 3]


def test_an_unknown_value_stays_a_gap_with_its_hatch_and_reason() -> None:
    line, hatch = lag(7, None, 9)["data"]
    assert line["y"][1] is None
    assert (hatch["y"], hatch["customdata"]) == ([1], ["broker-b is silent"])


def test_true_values_stay_for_tables_and_in_words_for_the_pointer() -> None:
    line = lag(0, 12_345)["data"][0]
    assert line["values"] == [0, 12_345]
    assert line["customdata"] == ["0", "12,345"]
    assert line["hovertemplate"] == "%{customdata} messages"


def test_the_axis_names_zero_and_powers_of_ten() -> None:
    axis = lag(0, 150)["layout"]["yaxis"]
    assert axis["ticktext"] == ["0", "1", "10", "100"]
    assert axis["tickvals"][0] == axis["range"][0] == 0
    assert axis["range"][1] > lag(150)["data"][0]["y"][0]


def test_the_lag_that_was_read_last_stands_on_the_same_scale() -> None:
    drawn = lag(9, live=99_999)
    marker = next(trace for trace in drawn["data"] if trace["name"] == "now")
    assert marker["y"] == [5]
    assert drawn["layout"]["yaxis"]["range"][1] > 5


def test_one_has_no_tick_where_that_would_touch_the_one_of_zero() -> None:
    assert lag(0, 15_000)["layout"]["yaxis"]["ticktext"] == ["0", "10", "100", "1,000", "10,000"]


def test_times_have_ticks_of_seconds_minutes_and_hours() -> None:
    axis = time_lag(3, 7_200)["layout"]["yaxis"]
    assert axis["ticktext"] == ["0 s", "10 s", "1 min", "10 min", "1 h"]


def test_a_chart_where_nothing_is_known_has_an_axis() -> None:
    assert lag(None)["layout"]["yaxis"]["ticktext"] == ["0", "1", "10"]
