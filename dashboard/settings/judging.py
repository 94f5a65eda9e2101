"""How states are judged: every duration of the rules, in seconds, each from the environment under its own name."""

from .environment import number

JUDGE = {
    name: number(f"CONSUMERSCOPE_{name.upper()}", default)
    for name, default in {
        # The window holds all readings of the last `window_seconds`, and at least `window_readings` of them.
        "window_seconds": 180,
        "window_readings": 8,
        "provisional_readings": 4,
        "provisional_seconds": 45,
        # Not read for so long: UNKNOWN.
        "unknown_after_seconds": 45,
        # Behind by less time than this is OK.
        "allowance_seconds": 60,
        "stop_without_members_seconds": 90,
        "unowned_seconds": 90,
        "stall_seconds": 180,
        "retry_stall_seconds": 300,
        # WARN, falling behind: over the trend the time lag grows by this many seconds a second, and is above
        # `warn_time_lag_seconds`, or its messages expire within `warn_expiry_seconds`; not while it drains within
        # `warn_drain_seconds`.
        "trend_seconds": 600,
        "warn_slope": 0.05,
        "warn_time_lag_seconds": 300,
        "warn_expiry_seconds": 24 * 3600,
        "warn_drain_seconds": 1800,
        # WARN, behind and not draining: a time lag above this for the whole trend that is not gone within
        # `behind_drain_seconds`, nor before its messages expire.
        "behind_seconds": 900,
        "behind_drain_seconds": 4 * 3600,
        # A drop so soon after an owner changed, and no larger than what was in flight, is a replay.
        "replay_after_move_seconds": 60,
        # How often clients commit: the error of an interpolated time lag.
        "commit_interval_seconds": 5,
        # How far a broker's clock may be from this host's: the error of an exact time lag.
        "clock_error_seconds": 1,
        # How old an answer about members or owners still counts: they are asked in turn, under a budget.
        "evidence_seconds": 900,
        # A topic that no member of an online group subscribes to for so long is retired.
        "retired_after_seconds": 600,
        # A group without a member whose offsets have not moved for so long is a ghost.
        "ghost_after_seconds": 7 * 86400,
        # A group that was without a member for more than this share of these days is offline by habit.
        "habit_days": 7,
        "habit_offline_share": 0.5,
        # Offline by habit alarms from this many times its usual longest wait on.
        "habit_wait_factor": 2,
        # Offsets that move so long after brokers listed no member are moved by members that they do not list.
        "unlisted_after_seconds": 60,
        # A rebalance whose queues are not all held by one member is not over so soon after the last change: locks of
        # orderly members last 60 s, and members look for new queues every 30 s.
        "rebalance_patience_seconds": 120,
        # Rebalances with less than this between them are one episode.
        "rebalance_merge_seconds": 60,
        # How far before a change its group's readings are looked at.
        "rebalance_lookback_seconds": 1800,
        # A group that does not settle has another rebalance after so long; one that is seen no more is given up.
        "rebalance_longest_seconds": 1800,
        # A group flaps from so many episodes of rebalances within an hour on, is restless from so many within a day.
        "flapping_episodes_per_hour": 6,
        "restless_episodes_per_day": 24,
        # An episode that has gone on for so long, and is no rollout, does not settle.
        "unsettled_after_seconds": 600,
    }.items()
}

# A queue whose oldest message is held unfinished for so long is shown as blocked.
CONSUMERSCOPE_BLOCKED_AFTER_SECONDS = number("CONSUMERSCOPE_BLOCKED_AFTER_SECONDS", 60, least=1)
