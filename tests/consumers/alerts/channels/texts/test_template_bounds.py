"""Templates that would take a worker down: each is refused soon, and what fits into a message is not."""

import copy
import itertools
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from consumers.alerts.channels.channel_settings import checked_channel
from consumers.alerts.channels.render import NOBODY, render, sample_payload, template_context
from consumers.alerts.channels.templates import TemplateFailed, rendered
from consumers.alerts.fields import AlertRefused
from consumers.models import Channel, ChannelKind
from consumers.vocabulary.alerts import TemplateProblem
from consumers.vocabulary.reasons import stored_reason
from consumers.words.reasons import stored_words

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
TOO_MUCH = stored_reason(TemplateProblem.TOO_MUCH)
SOON_SECONDS, LITTLE_BYTES = 3.0, 30_000_000
# Some 150 characters, and 100 MB: each text is joined with itself.
BOMB = (
    "{% with a=rule.name|join:rule.name %}{% with b=a|join:a %}{% with c=b|slice:':10000'%}"
    "{{ c|join:c|truncatechars:9 }}{% endwith %}{% endwith %}{% endwith %}"
)


def within(depth: int, inner: str, first: str = "rule.name") -> str:
    """`depth` texts, each joined with itself from the one before."""
    names = [first, *(f"v{place}" for place in range(depth))]
    begins = [f"{{% with {b}={a}|join:{a} %}}" for a, b in itertools.pairwise(names)]
    return "".join(begins) + inner.replace("LAST", names[-1]) + "{% endwith %}" * depth


LONG = within(3, "LAST")
BOMBS = {
    "a text joined with itself": BOMB,
    "joined until no memory could hold it": within(9, "{{ LAST|length }}"),
    "joined within a condition": within(4, "{% if LAST|join:LAST == LAST|join:LAST %}x{% endif %}" * 3),
    "a loop over letters": within(1, "{% for a in LAST %}{% for b in LAST %}{{ a }}{% endfor %}{% endfor %}"),
    "a loop without words": within(1, "{% for a in LAST %}{% for b in LAST %}{% endfor %}{% endfor %}"),
    "the same text again and again": within(1, "{% for a in LAST %}{{ LAST }}{{ LAST }}{{ LAST }}{% endfor %}"),
    "a format of dates": "{% with f='" + "r" * 99 + "' %}{% with g=events.0.at|date:f %}{{ events.0.at|date:g }}"
    "{% endwith %}{% endwith %}",
    "many filters": within(1, "{% for a in LAST %}{{ LAST" + "|upper|lower" * 250 + " }}{% endfor %}"),
    "many comparisons": within(
        1, "{% for a in LAST %}{% if " + " or ".join(["LAST in 'x'"] * 100) + " %}{% endif %}{% endfor %}"
    ),
    "many names": within(1, "{% for a in LAST %}" + "{{ events.0.incident.subject.group }}" * 80 + "{% endfor %}"),
}


@pytest.fixture
def message() -> dict[str, Any]:
    return template_context(payload(), 20)


def payload() -> dict[str, Any]:
    return sample_payload(NOBODY, 1, Channel(name="on call"), "ann", NOW) | {"is_test": False}


def cost(act: Callable[[], Any]) -> tuple[float, int]:
    """Seconds of a processor, and the most bytes at once."""
    tracemalloc.start()
    began = time.thread_time()
    try:
        act()
        return time.thread_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_what_would_grow_is_refused_soon_and_takes_little_memory(text: str, message: dict[str, Any]) -> None:
    def act() -> None:
        with pytest.raises(TemplateFailed) as raised:
            rendered(text, message)
        assert str(raised.value) == TOO_MUCH

    seconds, most_bytes = cost(act)
    assert seconds < SOON_SECONDS
    assert most_bytes < LITTLE_BYTES


def test_a_message_goes_out_in_the_sites_own_words_with_the_reason() -> None:
    channel = Channel(body_template=BOMB)
    words = render(payload(), channel, named=20)
    assert "Since 2026-03-14" in words.body
    assert words.note == TOO_MUCH


def test_one_that_only_goes_off_on_real_messages_is_not_saved(db: None) -> None:
    hidden = "{% if not is_test %}" + BOMB + "{% endif %}"
    said = {"name": "on call", "kind": ChannelKind.EMAIL, "recipients": ["ann@example.org"], "body_template": hidden}
    with pytest.raises(AlertRefused) as refused:
        checked_channel(said)
    assert refused.value.errors == {"body_template": stored_words(TOO_MUCH)}


def test_memory_that_is_not_there_is_the_templates_failure(
    message: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("consumers.alerts.channels.templates.Template.render", full)
    with pytest.raises(TemplateFailed):
        rendered("{{ rule.name }}", message)


def test_a_loop_over_all_events_of_a_large_message_fits() -> None:
    told = payload()
    told["events"] = [copy.deepcopy(told["events"][0]) for _ in range(300)]
    body = (
        '{% for e in events %}{{ forloop.counter }}: {{ e.incident.subject.title|upper }} {{ e.at|date:"H:i" }}'
        "{% if e.incident.severity == 'info' and e.sentence %} {{ e.sentence }}{% endif %}\n{% endfor %}"
    )
    assert rendered(body, template_context(told, 300)).count("\n") == 300


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ rule.name.upper }}{{ rule.clear }}{{ events.0.at.isoformat }}", ""),
        ("{% for k, v in labels.items %}{{ k }}={{ v }} {% endfor %}", "a=1 b=2 "),
        ("{{ events.0.at.year }} {{ rule.name.0 }} {{ events.7 }}", "2026 T "),
        ("{% for n in labels.keys %}{{ n }}{% endfor %}{{ labels.items.0.1 }}", "ab1"),
    ],
)
def test_a_template_reads_values_and_calls_nothing(text: str, words: str, message: dict[str, Any]) -> None:
    assert rendered(text, {**message, "labels": {"a": "1", "b": "2"}}) == words


def test_a_budget_is_that_of_one_render_alone(message: dict[str, Any]) -> None:
    for _ in range(3):
        with pytest.raises(TemplateFailed):
            rendered(BOMB, message)
        assert rendered("{{ rule.name }}", message) == "Test of a channel"
