"""Verdicts held against the truth of simulated groups: what is not known for sure may be UNKNOWN, and nothing else."""

from hypothesis import given, strategies as st

from consumers.models import ResetMethod
from tests.consumers.resets.read_back.simulated_group import METHODS
from tests.consumers.resets.read_back.simulated_reset import Scenario, told

ACTS = ("leave", "crash", "join", "commit", "restart", "restart and lose", "restart and lose more")
SERVER, CLIENT = ResetMethod.SERVER, ResetMethod.CLIENT


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    method = draw(st.sampled_from(METHODS))
    before = draw(st.one_of(st.just(None), st.integers(0, 5000))) if method != CLIENT else draw(st.integers(0, 5000))
    arrives = draw(st.booleans() | st.just(True))
    acts = draw(st.lists(st.tuples(st.floats(0.5, 50), st.sampled_from(ACTS)), max_size=3))
    online = method == CLIENT or (method == SERVER and draw(st.booleans()))
    target = draw(st.integers(0, 5000).filter(lambda offset: offset != before))
    return Scenario(
        method=method,
        before=before,
        target=target,
        behind=draw(st.sampled_from([0, 0, 40, 100_000])),
        online=online,
        early=draw(st.booleans()) and not online,
        old=draw(st.booleans()),
        deaf=draw(st.booleans()),
        rate=draw(st.sampled_from([0.0, 3.0, 100.0, 20_000.0])),
        commit_every=draw(st.sampled_from([1.0, 5.0, 30.0])),
        produced=draw(st.sampled_from([0.0, 50.0])),
        arrives=arrives,
        answered=arrives and draw(st.booleans() | st.just(True)),
        # What somebody else sets between the two looks like a member that goes on from the target.
        stranger=draw(st.integers(0, 9000).filter(lambda offset: not target <= offset < max(before or 0, target + 1))),
        acts=tuple(acts),
        away=draw(st.just((0.0, 0.0)) | st.tuples(st.floats(0, 20), st.floats(1, 60))),
        seed=draw(st.integers(0, 1000)),
    )


@given(scenarios())
def test_a_verdict_never_contradicts_what_happened(scenario: Scenario) -> None:
    result = told(scenario)

    assert result.is_true, (result.verdict, result.readings)
