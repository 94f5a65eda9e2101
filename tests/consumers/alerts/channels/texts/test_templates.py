"""Templates of titles and bodies, and what they may not do."""

from datetime import UTC, datetime
from typing import Any

import pytest

from consumers.alerts.channels.render import (
    LONGEST_BODY,
    LONGEST_TITLE,
    NOBODY,
    render,
    sample_payload,
    template_context,
)
from consumers.alerts.channels.templates import TemplateFailed, compiled, rendered
from consumers.models import Channel
from consumers.words.reasons import stored_words

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
LOOPS = "{% for a in events %}{% for b in events %}{% for c in events %}{% endfor %}{% endfor %}{% endfor %}"


def payload(*kinds: str) -> dict[str, Any]:
    """Changes of incidents of group-0, group-1, …"""
    told = sample_payload(NOBODY, 1, Channel(name="on call"), "ann", NOW)
    first = told["events"][0]
    told["events"] = [
        first | {"kind": kind, "incident": first["incident"] | {"subject": subject(f"group-{place}")}}
        for place, kind in enumerate(kinds or ["firing"])
    ]
    return told | {"is_test": False}


def subject(group: str) -> dict[str, str]:
    return {"kind": "group", "cluster": "prod", "broker": "", "group": group, "topic": ""}


@pytest.mark.parametrize(
    ("kinds", "title"),
    [
        (["firing"], "FIRING · Test of a channel: group-0"),
        (["resolved"], "RESOLVED · Test of a channel: group-0"),
        (["firing", "firing"], "FIRING 2 · Test of a channel: group-0 and 1 more"),
        (["firing", "resolved", "firing"], "FIRING 2, RESOLVED · Test of a channel: group-0 and 2 more"),
    ],
)
def test_a_title_says_what_happened_to_whom(kinds: list[str], title: str) -> None:
    assert render(payload(*kinds), Channel(), named=20).title == title


def test_a_body_names_some_and_counts_the_others() -> None:
    body = render(payload(*["firing"] * 37), Channel(), named=20).body
    assert body.count("FIRING · info · group-") == 20
    assert body.endswith("And 17 more, which are not named here.")


def test_a_body_says_what_is_known_and_nothing_of_what_is_not() -> None:
    told = payload("resolved")
    told["events"][0]["incident"] |= {"resolved_at": NOW.isoformat(), "owner": "", "note": "One at a time."}
    body = render(told, Channel(), named=20).body
    assert "Since 2026-03-14 02:50:00 UTC, until 2026-03-14 03:00:00 UTC" in body
    assert "Note: One at a time." in body
    assert "Owner" not in body
    assert "None" not in body


def test_a_channel_words_its_own_messages() -> None:
    channel = Channel(
        title_template="{{ channel }}: {{ firing }}/{{ count }}",
        body_template='{% for e in events %}{{ e.incident.group }}{{ e.incident.started_at|date:"H:i" }}{% endfor %}',
    )
    words = render(payload(), channel, named=20)
    assert (words.title, words.body, words.note) == ("on call: 1/1", "02:50", None)


def test_one_that_fails_when_it_is_sent_gives_way_to_the_sites_own_with_a_note() -> None:
    words = render(payload(), Channel(title_template="{% for a, b in events %}{% endfor %}"), named=20)
    assert words.title.startswith("FIRING · ")
    assert "could not be filled" in (stored_words(words.note) or "")


def test_names_stay_as_they_are_in_text() -> None:
    assert rendered("{{ name }}", {"name": "<a & b>"}) == "<a & b>"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{% include 'x' %}",
            "{% extends 'x' %}",
            "{% load static %}",
            "{% debug %}",
            "{% now 'Y' %}",
            "{% url 'x' %}",
        ),
        *("{{ rule|ljust:99999999 }}", "{{ rule|stringformat:'s' }}", "{{ rule|safe }}", "{% csrf_token %}"),
        *("{{ rule.__class__ }}", "{% if %}", "{% for %}", "{{ rule| }}", "{% lorem 9 %}", LOOPS, "x" * 4001),
    ],
)
def test_what_reaches_out_or_grows_is_not_understood(text: str) -> None:
    with pytest.raises(TemplateFailed):
        compiled(text)


def test_loops_behind_one_another_are_no_loops_within_each_other() -> None:
    assert compiled("{% for a in events %}{% if a %}{% for b in events %}{% endfor %}{% endif %}{% endfor %}" * 2)


def test_a_template_cannot_change_what_others_see() -> None:
    told = payload()
    render(told, Channel(body_template="{{ events.clear }}{{ rule.clear }}"), named=20)
    assert told == payload()
    words = render(told, Channel(title_template="{{ events.clear }}"), named=20)
    assert "group-0" in words.body


def test_titles_are_one_line_and_short_and_bodies_end_somewhere() -> None:
    words = render(payload(), Channel(title_template="a\n" * 240, body_template="b" * 4000), named=20)
    assert (len(words.title), words.title[:4]) == (LONGEST_TITLE, "a a ")
    told = payload(*["firing"] * 200)
    assert len(render(told, Channel(), named=500).body) == LONGEST_BODY


def test_the_context_holds_nothing_but_the_message() -> None:
    assert set(template_context(payload(), 20)) == {
        *("version", "delivery", "number", "channel", "is_test", "rule", "events"),
        *("firing", "resolved", "count", "count_less_one", "others"),
    }
