"""Kinds of groups on a page: a word, its reason, and a state that is at rest."""

from dataclasses import dataclass, field

import pytest

from consumers.models import State
from consumers.vocabulary.states import Flag
from consumers.words.states import FLAGS
from dashboard.templatetags.kinds import flags, group_state, in_unit, is_at_rest


@dataclass
class Row:
    state: State = State.OK
    flags: tuple[str, ...] = ()
    online: bool | None = True
    health_reasons: tuple[str, ...] = ()
    flag_reasons: dict[str, str] = field(default_factory=dict)


def test_a_flag_is_a_word_with_its_reason_on_hover_and_for_screen_readers() -> None:
    written = flags(Row(flags=("habitual",), flag_reasons={"habitual": "without a member for 80% of <7> days"}))
    assert 'title="without a member for 80% of &lt;7&gt; days">offline by habit<' in written
    assert '<span class="said">: without a member for 80% of &lt;7&gt; days</span>' in written


def test_every_flag_has_a_word() -> None:
    assert FLAGS.keys() == set(Flag)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (Row(), False),
        (Row(flags=("ghost",), online=False), True),
        (Row(flags=("ghost",), state=State.STOP, online=False), True),
        (Row(flags=("paused",)), True),
        (Row(flags=("paused",), state=State.LOSS), False),
        (Row(flags=("habitual",), online=False), True),
        (Row(flags=("habitual",), online=True), False),
        (Row(flags=("habitual",), online=None), False),
        (Row(flags=("habitual",), state=State.STOP, online=False), False),
        (Row(flags=("broadcasting", "pop")), False),
    ],
)
def test_a_state_is_at_rest_where_nothing_is_meant_to_be_consumed(row: Row, expected: bool) -> None:
    assert is_at_rest(row) is expected
    assert ("at-rest" in group_state(row)) is expected


def test_a_state_that_is_ok_is_not_green_beside_a_reason_for_worse() -> None:
    assert "at-rest" in group_state(Row(health_reasons=("DLQ inflow 5/min",)))
    assert "at-rest" not in group_state(Row(state=State.STOP, health_reasons=("State STOP",)))


@pytest.mark.parametrize(
    ("setting", "value", "shown"),
    [
        ("consumeTimeout", "15", "15 min"),
        ("pullInterval", "0", "0 ms"),
        ("pullThresholdSizeForQueue", "100", "100 MiB"),
        ("pullThresholdSizeForTopic", "-1", "-1"),
        ("consumeThreadMax", "20", "20"),
        ("a_later_setting", "15", "15"),
    ],
)
def test_a_setting_of_time_or_size_has_its_unit(setting: str, value: str, shown: str) -> None:
    assert in_unit(value, setting) == shown
