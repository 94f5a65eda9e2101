"""How states are evaluated: every duration and count of the rules, each from the environment under its own name."""

from .environment import flag, number, section, words

section(
    "Evaluation of states",
    "The durations (in seconds), counts and shares of the [rules](evaluation.md). What can be set per "
    "cluster or per group is "
    "described in [clusters](clusters.md).",
)

JUDGE = {
    name: number(f"CONSUMERSCOPE_{name.upper()}", default, what)
    for name, (default, what) in {
        "window_seconds": (180, "The window: an evaluation looks at the readings of this long."),
        "window_readings": (8, "The window contains at least this many readings."),
        "provisional_readings": (4, "From this many readings on, a state is given, marked as provisional."),
        "provisional_seconds": (45, "From this long on, a state is given, marked as provisional."),
        "unknown_after_seconds": (45, "A queue that was not polled for this long is UNKNOWN."),
        "allowance_seconds": (60, "A time lag up to this threshold is OK."),
        "stop_without_members_seconds": (90, "Lag, no commit and no member for this long is STOP."),
        "unowned_seconds": (90, "Lag, no commit and no owner for this long is STALL."),
        "stall_seconds": (180, "Lag and no commit for this long, although the queue has an owner, is STALL."),
        "retry_stall_seconds": (300, "The same for retry topics, which wait by design."),
        "trend_seconds": (600, "The trend: WARN looks at the time lag over this long."),
        "warn_slope": (0.05, "Falling behind: the time lag grows by this many seconds per second."),
        "warn_time_lag_seconds": (300, "Falling behind: the time lag is above this."),
        "warn_expiry_seconds": (24 * 3600, "Falling behind: or the oldest message expires within this time."),
        "warn_drain_seconds": (1800, "Falling behind: the queue does not drain within this time."),
        "behind_seconds": (
            900,
            "Not draining: the time lag is above this for the whole trend. Single groups may have "
            "another value, in the admin pages.",
        ),
        "behind_drain_seconds": (
            4 * 3600,
            "Not draining: the queue does not drain within this time, or before its messages expire.",
        ),
        "replay_after_move_seconds": (
            60,
            "A drop of the offset within this time after an owner changed, no larger than the messages in "
            "flight, is a replay, not REWIND.",
        ),
        "commit_interval_seconds": (5, "How often clients commit: part of the error of an interpolated time lag."),
        "clock_error_seconds": (
            1,
            "How far a broker's clock may differ from this host's: the error of an exact time lag.",
        ),
        "evidence_seconds": (900, "How old an answer about members or owners may be."),
        "retired_after_seconds": (
            600,
            "A topic that no member of an online group subscribes to for this long is retired.",
        ),
        "ghost_after_seconds": (
            7 * 86400,
            "A group without a member whose offsets do not move for this long is inactive.",
        ),
        "habit_days": (7, "Days over which habits are learned."),
        "habit_offline_share": (
            0.5,
            "A group without a member for more than this share of those days is offline by habit.",
        ),
        "habit_wait_factor": (
            2,
            "A group that is offline by habit alarms from this many times its usual longest wait on.",
        ),
        "unlisted_after_seconds": (
            60,
            "A group that still consumes this long after brokers listed no member has members that brokers "
            "do not list.",
        ),
        "rebalance_patience_seconds": (
            120,
            "While a queue has no owner, or two, a rebalance lasts this long after the last change. Locks of"
            " orderly members last 60 s, and members look for new queues every 30 s.",
        ),
        "rebalance_merge_seconds": (60, "Rebalances with less time between them are one episode."),
        "rebalance_lookback_seconds": (1800, "How far before a change the readings of its group are examined."),
        "rebalance_longest_seconds": (1800, "A group that keeps changing has another rebalance after this time."),
        "flapping_episodes_per_hour": (6, "A group with this many episodes of rebalances in an hour is flapping."),
        "restless_episodes_per_day": (24, "A group with this many episodes in a day is unstable."),
        "unsettled_after_seconds": (600, "An episode that lasts this long, and is no rollout, does not settle."),
    }.items()
}

# A queue whose oldest message is held unfinished for so long is shown as blocked.
CONSUMERSCOPE_BLOCKED_AFTER_SECONDS = number(
    "CONSUMERSCOPE_BLOCKED_AFTER_SECONDS",
    60,
    "A queue whose oldest message is unfinished for this long is shown as [blocked](retries.md#blocked-queues).",
    least=1,
)


# What offset resets may do, and how long is waited for what.

section("Offset resets", "What a [reset](resets.md) may do, and how long it waits.")

CONSUMERSCOPE_READ_ONLY_CLUSTERS = words(
    "CONSUMERSCOPE_READ_ONLY_CLUSTERS",
    "",
    "Clusters that nothing is written to, separated by commas: their names, or addresses of their "
    "name servers or brokers. `*` means all. See [access](access.md).",
)
CONSUMERSCOPE_RESET_SECOND_PERSON = flag(
    "CONSUMERSCOPE_RESET_SECOND_PERSON", False, "1: whoever planned a reset may not apply it."
)
RESET_PLAN_SECONDS = number(
    "RESET_PLAN_SECONDS", 900, "A plan expires if it is not applied within this time.", least=10
)
RESET_QUEUES_MAX = int(number("RESET_QUEUES_MAX", 10000, "How many queues one reset may move.", least=1))
RESET_TOLERANCE_MESSAGES = int(
    number("RESET_TOLERANCE_MESSAGES", 10000, "How far a queue may move between plan and reset.")
)
RESET_MESSAGE_TIMES = int(
    number("RESET_MESSAGE_TIMES", 200, "For how many queues the message at the target is read to show its time.")
)
# Each queue is read back until it has stood, or moved on, for so long; then longest for so long.
RESET_SETTLED_SECONDS = number(
    "RESET_SETTLED_SECONDS", 12, "A queue is read back until it has stood still, or moved on, for this long.", least=1
)
RESET_READ_BACK_SECONDS = number(
    "RESET_READ_BACK_SECONDS",
    60,
    "The longest a queue is read back, unless members [need longer](resets.md#how-long-it-takes).",
    least=1,
)
# A request over REST waits so long for its plan; then it is answered without.
RESET_PLAN_WAIT_SECONDS = number(
    "RESET_PLAN_WAIT_SECONDS", 10, "How long REST waits for a plan before it answers that planning goes on."
)
