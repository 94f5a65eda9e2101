"""What tells a group's kinds, each with the facts that are almost enough."""

from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from consumers.models import Cluster, ConsumerGroup
from consumers.polling.flags import ghosts, group_flags, offline_share, retired_topics
from consumers.polling.kind_limits import KindLimits
from consumers.vocabulary.states import Flag
from consumers.words.reasons import stored_words
from tests.world import NOW, a_cluster, a_group, ago

LIMITS = KindLimits()
DAY = 86400
ORDERS = {"topic": "Orders", "expression": "*", "expression_type": "TAG"}


def a_row(**fields):
    values = {"kind": "user", "first_seen_at": ago(30 * DAY), "online": True, "consume_enable": True}
    values |= {"membership_at": ago(20)}
    return ConsumerGroup(name="billing", **(values | {"subscriptions": [ORDERS]} | fields))


def presence(*shares, full=100):
    """The share of empty answers of each day, today last."""
    days = [(NOW - timedelta(days=back)).date().isoformat() for back in range(len(shares))]
    return {day: [full, int(full * share)] for day, share in zip(days, reversed(shares), strict=True)}


def flags_of(pops=False, **fields):
    return group_flags(a_row(**fields), pops, NOW, LIMITS)


AGES = [0, 6 * DAY, 7 * DAY - 1, 7 * DAY, 7 * DAY + 1, 20 * DAY]
OFFLINE = {"online": False, "offline_since": ago(10 * DAY)}


@pytest.mark.parametrize(
    ("sentence", "fields", "expected"),
    [
        ("an ordinary group has none", {}, []),
        ("a RocketMQ system group", {"kind": "system"}, [Flag.SYSTEM]),
        ("its consumption is switched off", {"consume_enable": False}, [Flag.PAUSED]),
        ("a store of its own", {"outside_store": "com.acme.RedisOffsetStore"}, [Flag.OUTSIDE_STORE]),
        ("broadcasting", {"message_model": "BROADCASTING"}, [Flag.BROADCASTING]),
        ("it pops", {"pops": True}, [Flag.POP]),
        ("brokers say that it pops", {"consume_type": "CONSUME_POP"}, [Flag.POP]),
        ("some tags only", {"subscriptions": [ORDERS | {"expression": "TagA || TagB"}]}, [Flag.TAG_FILTERED]),
        ("every tag", {"subscriptions": [ORDERS | {"expression": ""}]}, []),
        ("no member, no move for a week", {**OFFLINE, "moved_at": ago(11 * DAY)}, [Flag.GHOST]),
        ("never a move since it went", {"online": False, "offline_since": ago(8 * DAY)}, [Flag.GHOST]),
        ("never a move in the whole watch", OFFLINE, [Flag.GHOST]),
        ("quiet for weeks, and gone since yesterday", {"online": False, "offline_since": ago(DAY)}, []),
        ("a move six days ago", {**OFFLINE, "moved_at": ago(6 * DAY), "offline_since": ago(6 * DAY)}, []),
        ("watched for six days only", {"offline_since": ago(6 * DAY), "first_seen_at": ago(6 * DAY)}, []),
        ("quiet, but with members", {"moved_at": ago(9 * DAY)}, []),
        (
            "a broker did not answer who is in it; the last whole answer was nobody",
            {**OFFLINE, "online": None},
            [Flag.GHOST],
        ),
        ("offline most of the week", {"presence": presence(1, 1, 0.9, 0.9, 0.5, 0, 0)}, [Flag.HABITUAL]),
        ("online most of the week", {"presence": presence(1, 1, 0.9, 0, 0, 0, 0)}, []),
        ("just the half of it", {"presence": presence(1, 1, 0.75, 0.75, 0, 0, 0)}, []),
        ("offline, but watched for three days", {"presence": presence(1, 1, 1)}, []),
        (
            "moves that no listed member made",
            {"online": False, "offline_since": ago(300), "moved_at": ago(200)},
            [Flag.UNLISTED_MEMBERS],
        ),
        ("a last commit seen late", {"online": False, "offline_since": ago(300), "moved_at": ago(250)}, []),
        (
            "a topic that is no longer subscribed",
            {"unsubscribed": {"Old": ago(601).isoformat()}},
            [Flag.RETIRED_TOPICS],
        ),
        ("not for long enough", {"unsubscribed": {"Old": ago(599).isoformat()}}, []),
        ("nobody is online to subscribe", {"online": False, "unsubscribed": {"Old": ago(601).isoformat()}}, []),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_it_tells_a_kind_by(sentence, fields, expected):
    assert list(flags_of(**fields).reasons) == expected, sentence


@pytest.mark.parametrize(
    ("flag", "fields", "reason"),
    [
        (Flag.PAUSED, {"consume_enable": None}, "its configuration was not read"),
        (Flag.POP, {"pops": None}, "no member has reported how it consumes"),
        (Flag.GHOST, {"offline_since": ago(2 * DAY), "first_seen_at": ago(2 * DAY)}, "watched for 2 of 7 days"),
        (Flag.GHOST, {**OFFLINE, "membership_at": ago(901)}, "not every broker has reported its members lately"),
        (Flag.GHOST, {**OFFLINE, "membership_at": None}, "not every broker has reported its members lately"),
        (Flag.HABITUAL, {"presence": presence(1, 1)}, "membership was not watched for 7 days"),
    ],
)
def test_what_was_not_watched_or_told_is_undecided(flag, fields, reason):
    found = flags_of(**fields)
    assert flag not in found
    assert stored_words(found.undecided[flag]) == reason


def test_every_flag_has_its_reason():
    found = flags_of(moved_at=ago(9 * DAY), consume_enable=False, **OFFLINE)
    assert {flag: stored_words(why) for flag, why in found.reasons.items()} == {
        Flag.PAUSED: "consumeEnable is false: brokers refuse its pulls",
        Flag.UNLISTED_MEMBERS: "active, but no broker lists a member: its members may be clients of a proxy",
        Flag.GHOST: "no member, and nothing consumed for 9 days",
    }


def test_retired_topics_know_since_when():
    group = a_row(unsubscribed={"Old": ago(700).isoformat(), "Young": ago(10).isoformat()})
    assert retired_topics(group, NOW, LIMITS) == {"Old": ago(700)}


def test_answers_before_the_week_do_not_count():
    old = presence(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)
    assert offline_share(a_row(presence=old), NOW, LIMITS) == 0


@pytest.mark.django_db
@settings(deadline=None)
@given(
    first=st.sampled_from(AGES),
    moved=st.none() | st.sampled_from(AGES),
    offline=st.none() | st.sampled_from(AGES),
    asked=st.none() | st.sampled_from([0, 900, 901, 9 * DAY]),
)
def test_the_database_finds_the_same_ghosts(first, moved, offline, asked):
    ConsumerGroup.objects.all().delete()
    group = a_group(
        Cluster.objects.first() or a_cluster(read_at=None),
        first_seen_at=ago(first),
        moved_at=None if moved is None else ago(moved),
        offline_since=None if offline is None else ago(offline),
        membership_at=None if asked is None else ago(asked),
    )
    found = ConsumerGroup.objects.filter(ghosts(NOW, LIMITS)).exists()
    assert found is (Flag.GHOST in group_flags(group, False, NOW, LIMITS))
