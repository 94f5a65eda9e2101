"""Whom a reading asks when its budget does not reach for all."""

import pytest
from hypothesis import given, strategies as st

from consumers.polling.members.collected import KnownGroup, KnownMember, Rotation, plan_clients, plan_sweep
from consumers.polling.members.membership import Budget, Silences
from tests.readings import at, group_members

NOW = at(1000)
CONNECTED = {"broker-a": ["10.0.0.1:5000"]}


def asked_at(*seconds, settled=True, changed_at=None):
    """What the rows know of a group whose members `0`, `1`, … spoke then."""
    members = {str(number): KnownMember(CONNECTED, at(s)) for number, s in enumerate(seconds)}
    return KnownGroup(None, changed_at, at(0) if settled else None, members)


def planned(known, calls, *, sizes=None, silences=None, errors=None, out_of_reach=(), blocked=()):
    """`sizes`: how many members a group has, where that is not what the rows know."""
    answers = [
        group_members(
            name,
            *map(str, range((sizes or {}).get(name, len(group.members)))),
            error=(errors or {}).get(name),
        )
        for name, group in known.items()
    ]
    askable = {a.group: [m for m in a.members if (a.group, m.client_id) not in out_of_reach] for a in answers}
    budget = Budget(1000, calls)
    rotation = Rotation(list(known), known, blocked=blocked)
    return plan_clients(answers, askable, rotation, silences or Silences(), budget, NOW)


def groups_of(plan):
    return list(dict.fromkeys(group for group, _ in plan.clients))


def test_the_longest_unasked_group_comes_first_and_whole():
    known = {"late": asked_at(30, 30), "early": asked_at(10, 10), "middle": asked_at(20)}
    assert [(g, m.client_id) for g, m in planned(known, 2).clients] == [("early", "0"), ("early", "1")]


def test_groups_whose_turn_is_not_yet_are_left_out():
    known = {"a": asked_at(10, 10), "b": asked_at(20, 20), "c": asked_at(30, 30)}
    assert groups_of(planned(known, 3)) == ["a", "b"]


def test_a_group_larger_than_the_budget_is_asked_whole_when_its_turn_comes():
    assert len(planned({"crowd": asked_at(*[10] * 50), "late": asked_at(20)}, 4).clients) == 50


@pytest.mark.parametrize(
    "hurried",
    [
        {"known": asked_at(900, 900), "size": 3},
        {"known": asked_at(900, settled=False), "size": 1},
        {"known": asked_at(900, changed_at=at(950)), "size": 1},
    ],
    ids=["its members differ", "it has not settled", "it changed a moment ago"],
)
def test_a_hurried_group_comes_before_the_longest_unasked(hurried):
    plan = planned({"early": asked_at(10), "g": hurried["known"]}, 4, sizes={"g": hurried["size"]})
    assert (groups_of(plan), plan.hurried) == (["g", "early"], 1)


def test_a_changed_group_comes_before_those_that_only_have_not_settled():
    known = {f"fresh-{n}": asked_at(10, settled=False) for n in range(9)} | {"changed": asked_at(900)}
    assert groups_of(planned(known, 4, sizes={"changed": 2}))[0] == "changed"


def test_groups_that_have_not_settled_take_turns():
    known = {"asked": asked_at(900, settled=False), "waiting": asked_at(100, settled=False)}
    assert groups_of(planned(known, 1)) == ["waiting"]


def test_a_blocked_group_comes_before_the_longest_unasked_and_after_those_that_change():
    known = {"early": asked_at(10), "stuck": asked_at(900), "flapping": asked_at(900, changed_at=at(990))}
    plan = planned(known, 4, blocked=["stuck"])
    assert (groups_of(plan), plan.hurried) == (["flapping", "stuck", "early"], 2)


def test_blocked_groups_leave_a_quarter_of_the_calls_to_the_others():
    known = {f"stuck-{n}": asked_at(900) for n in range(20)} | {f"quiet-{n}": asked_at(10) for n in range(20)}
    asked = groups_of(planned(known, 8, blocked=[name for name in known if name.startswith("stuck")]))
    assert [name.split("-")[0] for name in asked] == ["stuck"] * 6 + ["quiet"] * 2


def test_a_blocked_group_whose_member_is_silent_waits_for_its_turn():
    silences = Silences()
    silences.note(("stuck", "0"), "no answer", at(900))
    known = {"stuck": asked_at(900), "early": asked_at(10)}
    assert groups_of(planned(known, 1, silences=silences, blocked=["stuck"])) == ["early"]


def test_hurried_groups_leave_a_quarter_of_the_calls_to_the_others():
    known = {f"flapping-{n}": asked_at(900, changed_at=at(990)) for n in range(20)}
    known |= {f"quiet-{n}": asked_at(10) for n in range(20)}
    asked = groups_of(planned(known, 8))
    assert [name.split("-")[0] for name in asked] == ["flapping"] * 6 + ["quiet"] * 2


def test_calls_that_the_others_do_not_need_are_for_the_hurried():
    known = {f"flapping-{n}": asked_at(900, changed_at=at(990)) for n in range(20)}
    assert len(planned(known, 8).clients) == 8


def test_a_hurried_crowd_does_not_keep_the_others_from_their_turn():
    known = {"crowd": asked_at(*[900] * 50, changed_at=at(990)), "quiet": asked_at(10)}
    assert groups_of(planned(known, 8)) == ["crowd", "quiet"]


@pytest.mark.parametrize(
    "hindered",
    [
        {"out_of_reach": {("g", "1")}},
        {"errors": {"g": "broker-b: silent"}},
        {"silent": ("g", "0")},
    ],
    ids=["behind a proxy", "a broker did not answer", "a client fell silent"],
)
def test_a_group_that_cannot_be_whole_is_not_hurried_for_not_having_settled(hindered):
    silences = Silences()
    if whom := hindered.pop("silent", None):
        silences.note(whom, "no answer", at(900))
    known = {"g": asked_at(10, 10, settled=False), "other": asked_at(20)}
    plan = planned(known, 10, silences=silences, **hindered)
    assert (sorted(groups_of(plan)), plan.hurried) == (["g", "other"], 0)


def test_a_group_whose_clients_never_answer_waits_for_its_turn_as_others_do():
    silences = Silences()
    silences.note(("mute", "0"), "refused", at(900))
    known = {"mute": KnownGroup(settled_at=at(0), members={"0": KnownMember(CONNECTED)}), "late": asked_at(500)}
    assert groups_of(planned(known, 1, silences=silences)) == ["late"]


def test_clients_that_fell_silent_are_asked_last_of_all():
    silences = Silences()
    silences.note(("a", "0"), "no answer", at(5))
    plan = planned({"a": asked_at(10, 10), "b": asked_at(20)}, 10, silences=silences)
    assert [(g, m.client_id) for g, m in plan.clients] == [("a", "1"), ("b", "0"), ("a", "0")]


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12), st.integers(1, 20))
def test_no_group_is_ever_split_and_at_most_one_in_each_of_three_takings_exceeds_the_budget(groups, calls):
    known = {f"g{n}": asked_at(*[n] * size, settled=settled) for n, (size, settled) in enumerate(groups)}
    plan = planned(known, calls)
    assert len(plan.clients) == sum(len(known[name].members) for name in plan.groups)
    assert len(plan.clients) <= calls + calls // 4 + 2 * 9


@given(st.lists(st.integers(1, 5), min_size=1, max_size=10), st.integers(1, 12))
def test_every_group_has_its_turn(sizes, calls):
    known = {f"g{n}": asked_at(*[0] * size) for n, size in enumerate(sizes)}
    silences, seen = Silences(), set()
    for _ in sizes:
        plan = planned(known, calls, silences=silences)
        seen |= set(plan.groups)
        for name in plan.groups:
            silences.asked_at[name] = at(len(seen) + 1)
    assert seen == set(known)


def test_a_sweep_of_some_takes_restless_groups_first_but_never_more_than_half():
    quiet = {f"quiet-{n}": asked_at() for n in range(4)}
    known = quiet | {f"restless-{n}": asked_at(changed_at=at(990)) for n in range(4)}
    swept = plan_sweep(Rotation(list(known), known), 4, Budget(0, 0), NOW)
    assert swept == ["restless-0", "restless-1", "quiet-0", "quiet-1"]


def test_a_sweep_of_all_keeps_their_order():
    known = {"quiet": asked_at(), "restless": asked_at(changed_at=at(990))}
    assert plan_sweep(Rotation(list(known), known), 2, Budget(0, 0), NOW) == ["quiet", "restless"]
