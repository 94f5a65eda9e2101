"""Histories of groups, and the rebalances in them: (after, before, last change, settled) in seconds; of EPISODES the
first rebalance of the episode, and whether it is a rollout. Beside each history what else the group's row says."""

from consumers.polling.members.collected import BEHIND_A_PROXY
from tests.pipeline_rows import at, us
from tests.rebalance_histories import NOT_ASKED, Seen, clients, every, of_group, partly, queues, saying, see

ALONE = every(0, 60, a="0123")
BOTH = every(0, 60, a="01", b="23")
UNASKED = every(15, 135, a=NOT_ASKED, b=NOT_ASKED)
HIDDEN = Seen(0, {"a": None}, error=BEHIND_A_PROXY)


def hidden(first, last, **holds):
    return [Seen(seen.seconds, holds, error=BEHIND_A_PROXY) for seen in every(first, last)]


def in_turns(first, last):
    """b is there at every other reading."""
    pair = [(n, n % 2) for n in range(int((last - first) / 15) + 1)]
    return [see(first + 15 * n, a="0123") if odd else see(first + 15 * n, a="01", b="23") for n, odd in pair]


GROWN = [*queues(4), *queues(6, first_seen_us=us(75))[4:]]
CASES = {
    "nothing happens": (ALONE, {}, []),
    "the first sight is none": (every(0, 30, a="01", b="23"), {}, []),
    "a member that a silent broker may have listed before is none": (
        [*partly([see(0, a="01")]), *every(15, 60, a="01", b="23")],
        {},
        [],
    ),
    "a retry topic is taken, and a queue that is dropped already": (
        [
            *ALONE,
            *saying(every(75, 105, a="0123"), a={"also": [{"topic": "%RETRY%x"}, {"queue_id": 9, "dropped": True}]}),
        ],
        {},
        [],
    ),
    "a member joins": ([*ALONE, *every(75, 120, a="01", b="23")], {}, [(60, 75, 75, 75)]),
    "a member goes": ([*BOTH, *every(75, 120, a="0123")], {}, [(60, 75, 75, 75)]),
    "the last member goes": ([*ALONE, see(75), see(90)], {}, [(60, 75, 75, 75)]),
    "changes follow each other": (
        [*ALONE, see(75, a="01", b="23"), *every(90, 120, a="0", b="12", c="3")],
        {},
        [(60, 75, 90, 90)],
    ),
    "two readings agree in between": (
        [*ALONE, *every(75, 90, a="01", b="23"), *every(105, 135, a="0", b="12", c="3")],
        {},
        [(60, 75, 75, 75), (90, 105, 105, 105)],
    ),
    "a queue is held twice on its way": (
        [*ALONE, *every(75, 90, a="0123", b="23"), *every(105, 135, a="01", b="23")],
        {},
        [(60, 75, 105, 105)],
    ),
    "one whole reading agrees with nothing": (
        [*BOTH, *partly([see(75, a="013", b="2")]), see(90, a="013", b="2"), *every(105, 135, a="01", b="23")],
        {},
        [(60, 75, 105, 105)],
    ),
    "a silent member agrees with nothing": (
        [*ALONE, see(75, a="01", b="23"), see(90, a="01", b=None), *every(105, 135, a="0", b="12", c="3")],
        {},
        [(60, 75, 105, 105)],
    ),
    "nobody polled for long after it": (
        [*ALONE, see(75, a="01", b="23"), *every(2000, 2030, a="01", b="23")],
        {},
        [(60, 75, 75, None)],
    ),
    "the poll has not written its rows yet": (
        [*ALONE, *every(75, 240, a="01", b="23")],
        {"clients": clients(ALONE)},
        [(60, 75, 75, None)],
    ),
    "members notice the one that joined later": (
        [*ALONE, *every(75, 90, a="0123", b=""), *every(105, 135, a="01", b="23")],
        {},
        [(60, 75, 105, 105)],
    ),
    "there are more members than queues": (
        [*every(0, 60, a="0", b="1"), *every(75, 105, a="0", b="1", c="")],
        {"queues": queues(2)},
        [(60, 75, 75, 75)],
    ),
    "locks of the one that went last a minute": (
        [*BOTH, *every(75, 120, a="01"), *every(135, 165, a="0123")],
        {},
        [(60, 75, 135, 135)],
    ),
    "queues stay without an owner": ([*BOTH, *every(75, 240, a="01")], {}, [(60, 75, 75, 75)]),
    "queues are without an owner for less than the patience": (
        [*BOTH, *every(75, 180, a="01")],
        {},
        [(60, 75, 75, None)],
    ),
    "a reading is missed": ([*ALONE, *every(90, 120, a="01", b="23")], {}, [(60, 90, 90, 90)]),
    "a member is silent for a while": (
        [*BOTH, *every(75, 90, a="01", b=None), *every(105, 120, a="01", b="23")],
        {},
        [],
    ),
    "the one that joins is silent at first": (
        [*ALONE, see(75, a="01", b=None), *every(90, 120, a="01", b="23")],
        {},
        [(60, 75, 75, 90)],
    ),
    "a broker is silent": ([*BOTH, *partly(every(75, 90, a="01")), *every(105, 120, a="01", b="23")], {}, []),
    "queues move while a broker is silent": (
        [*BOTH, *partly(every(75, 90, a="013", b="2")), *every(105, 135, a="013", b="2")],
        {},
        [(60, 75, 75, 105)],
    ),
    "members were not asked for long": (
        [see(0, a="01", b="23"), *UNASKED, *every(150, 180, a="013", b="2")],
        {},
        [(0, 150, 150, 150)],
    ),
    "a member's own clock shows that it was still so": (
        [
            *of_group([see(0, a="01", b="23"), *UNASKED], sub_version=at(-100)),
            *saying(every(150, 180, a="013", b="2"), a={"sub_version": at(147)}, b={"sub_version": at(148)}),
        ],
        {},
        [(135, 150, 150, 150)],
    ),
    "the same queues are taken anew": (
        [*saying(ALONE, a={"sub_version": at(-9)}), *saying(every(75, 105, a="0123"), a={"sub_version": at(70)})],
        {},
        [(60, 75, 75, 75)],
    ),
    "two processes share an id and answer in turn": (
        [
            *saying(BOTH, a={"sub_version": at(-9)}),
            *saying([see(75, a="0", b="3")], a={"sub_version": at(71), "doubled_us": us(75)}),
            *saying([see(90, a="0", b="3")], a={"sub_version": at(-9), "doubled_us": us(75)}),
            *saying(every(105, 225, a="0", b="3"), a={"sub_version": at(71), "doubled_us": us(75)}),
        ],
        {},
        [(60, 75, 75, 75)],
    ),
    "a process that started earlier answers under the same id": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b={"started_at": at(-7200)})],
        {"clients": clients(every(0, 105, a="01", b="23"))},
        [],
    ),
    "members pop": ([*every(0, 60, a=""), *every(75, 105, a="", b="")], {"shares_queues": False}, [(60, 75, 75, 75)]),
    "every member holds every queue": (
        of_group([*ALONE, *every(75, 105, a="0123", b="0123")], message_model="BROADCASTING"),
        {},
        [(60, 75, 75, 75)],
    ),
    "nobody can ask the members": ([*hidden(0, 60, a=None), *hidden(75, 105, a=None, b=None)], {}, [(60, 75, 75, 75)]),
    "nobody polled for long": ([*BOTH, *every(4000, 4030, a="0123")], {}, [(60, 4000, 4000, 4000)]),
    "members look for new queues one after the other": (
        [*every(0, 75, a="01", b="23"), *every(90, 105, a="014", b="23"), *every(120, 150, a="014", b="235")],
        {"queues": GROWN},
        [(75, 90, 120, 120)],
    ),
    "it never settles": ([*ALONE, *in_turns(75, 1920)], {}, [(60, 75, 1860, None), (1860, 1875, 1920, None)]),
    "a member never answers": (
        [*BOTH, *every(75, 240, a="0", b="13", c=None)],
        {},
        [(60, 75, 75, 195)],
    ),
    "a member hangs for half an hour": (
        [
            *BOTH,
            see(75, a="0", b="1", c="23"),
            *every(90, 1980, step=30, a="01", b="2", c=None),
            *every(2010, 2040, a="0", b="12", c="3"),
        ],
        {},
        [(60, 75, 90, None), (1980, 2010, 2010, 2010)],
    ),
    "changes before the range are another run's": (
        [*ALONE, *every(75, 120, a="01", b="23")],
        {"since": 90},
        [],
    ),
    "one that was not over when the range began is taken up": (
        [*ALONE, see(75, a="01", b="23"), *every(90, 120, a="0", b="12", c="3")],
        {"since": 75, "opened_us": us(75)},
        [(60, 75, 90, 90)],
    ),
}
ROLLED = [
    *BOTH,
    *saying(every(75, 105, a="01", c="23"), c={"started_at": at(70)}),
    *saying(every(120, 150, c="23", d="01"), c={"started_at": at(70)}, d={"started_at": at(115)}),
]
# Starts every 40 s and lives for 25 s; each time under an id of its own.
LOOPING = [
    see(at_s, a="01", **{f"b{n}": "23"}) if age_s < 25 else see(at_s, a="0123")
    for at_s, (n, age_s) in ((at_s, divmod(at_s - 75, 40)) for at_s in range(75, 270, 15))
]
LIVES = (("b", 90, 105), ("c", 135, 150), ("d", 180, 195))
LOOPING_ALONE = [
    seen
    for client, begin, end in LIVES
    for seen in (
        see(begin - 15),
        *saying(every(begin, end, **{client: "0123"}), **{client: {"started_at": at(begin - 5)}}),
    )
]
EPISODES = {
    "a crash loop settles in between": ([*ALONE, *LOOPING], {}, [(75, False)] * 4),
    "a crash loop of the only member passes for a rollout until it has started twice": (
        [*ALONE, *LOOPING_ALONE],
        {},
        [(75, True), (75, True), (75, False)],
    ),
    "starts before the range count where its episode began before": (
        [*ALONE, *LOOPING_ALONE],
        {
            "since": 165,
            "episode_end_us": us(150),
            "episode_us": us(75),
            "episode_after_us": us(60),
            "joined_us": [us(90), us(135), us(180)],
        },
        [(75, False)],
    ),
    "a rollout": (ROLLED, {}, [(75, False), (75, True)]),
    "a minute of rest": (
        [*ALONE, *every(75, 120, a="01", b="23"), *every(135, 165, a="0123")],
        {},
        [(75, False), (135, False)],
    ),
    "it follows a stored one": (
        [*ALONE, *every(75, 105, a="01", b="23")],
        {"episode_end_us": us(20), "episode_us": us(-100)},
        [(-100, False)],
    ),
}
