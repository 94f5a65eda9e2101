"""Whatever a receiver answers: each message is taken once, each incident's changes in order, none behind a stranger."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.alerts.channels.deliver import deliver
from consumers.models import Channel
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import Answer, HttpReceiver, closes_half_way, status
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
# Which incidents each message tells of: the beginning of one when it is named first, its end after that.
TOLD = st.lists(st.sets(st.integers(0, 3), min_size=1, max_size=3), min_size=1, max_size=7)
ANSWERS: dict[str, Answer] = {
    "taken": status(200),
    "refused": status(500),
    "asks for time": status(429),
    "says for how long": status(503, Retry_After="30"),
    "closes": closes_half_way,
}
few_examples = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def messages(channel: Channel, told: Iterable[set[int]]) -> dict[str, set[int]]:
    """The incidents of each message, by its id."""
    group = a_group(a_cluster())
    incidents = [an_incident(a_rule(f"Rule {n}"), group) for n in range(4)]
    kinds = {n: ["firing", "resolved"] for n in range(4)}
    made = {}
    for numbers in told:
        tells = {n for n in numbers if kinds[n]}
        events = [an_incident_event(incidents[n], kinds[n].pop(0)) for n in sorted(tells)]
        if events:
            made[str(a_message(channel, *events).pk)] = tells
    return made


class Scripted:
    """Notes what it takes. Those in `never` it never takes, all others once it has given its answers."""

    def __init__(self, answers: Sequence[str] = (), never: Sequence[str] = ()) -> None:
        self.answers, self.never, self.taken = list(answers), never, list[str]()

    def __call__(self, handler: object) -> None:
        key = handler.headers["Consumerscope-Delivery"]  # type: ignore[attr-defined]
        said = "refused" if key in self.never else self.answers.pop(0) if self.answers else "taken"
        if said == "taken":
            self.taken.append(key)
        ANSWERS[said](handler)  # type: ignore[arg-type]


def behind(never: Sequence[str], made: dict[str, set[int]]) -> set[str]:
    """Those that are never taken, and what may not go before them."""
    held: set[int] = set()
    found = set()
    for key, incidents in made.items():
        if key in never or incidents & held:
            found.add(key)
            held |= incidents
    return found


@given(told=TOLD, answers=st.lists(st.sampled_from(sorted(ANSWERS)), max_size=14))
@few_examples
def test_each_message_is_taken_once_and_what_is_told_of_an_incident_in_order(
    receiver: HttpReceiver, told: list[set[int]], answers: list[str]
) -> None:
    with transaction.atomic():
        channel, clock = a_webhook(receiver.url), FakeClock()
        made, script = messages(channel, told), Scripted(answers)
        receiver.answers = [script]
        again = clock.at
        while (again := deliver(channel.pk, clock, clock.pause) or NOW) != NOW:
            assert again - NOW < timedelta(minutes=20)
            clock.at = again
        assert sorted(script.taken) == sorted(made)
        for n in range(4):
            of_it = [key for key, incidents in made.items() if n in incidents]
            assert [key for key in script.taken if key in of_it] == of_it
        receiver.received.clear()
        transaction.set_rollback(True)


@given(told=TOLD, places=st.sets(st.integers(0, 6), min_size=1, max_size=2))
@few_examples
def test_one_or_two_that_are_never_taken_hold_up_only_what_tells_of_their_incidents(
    receiver: HttpReceiver, told: list[set[int]], places: set[int]
) -> None:
    with transaction.atomic():
        channel, clock = a_webhook(receiver.url), FakeClock()
        made = messages(channel, told)
        never = [key for place, key in enumerate(made) if place in places]
        receiver.answers = [script := Scripted(never=never)]
        deliver(channel.pk, clock, clock.pause)
        assert script.taken == [key for key in made if key not in behind(never, made)]
        receiver.received.clear()
        transaction.set_rollback(True)
