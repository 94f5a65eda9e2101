"""The columns of the tables that go into finding rebalances and come out, declared once.

Times are microseconds since 1970 in UTC. Null is unknown; in `gone_us` it says that the member is still there.
"""

import pyarrow as pa

from consumers.lake.schemas import OWNERSHIP, TEXT

US = pa.int64()
GROUP = ["cluster", "group"]
PLACE = ["topic", "broker", "queue_id"]
EVENT = [*GROUP, "started_before_us"]

MEMBER = pa.struct(
    [
        # One interval of a member. Another connection, or another start, of the same client id is another interval.
        ("client_id", TEXT),
        ("address", TEXT),
        ("started_us", US),
        ("seen_us", US),
        ("last_seen_us", US),
        ("gone_us", US),
        ("doubled_us", US),  # since when two processes share this id
        ("answered_us", US),
        ("may_hold", pa.int64()),  # messages of one queue, by its settings; null: it has not reported them
    ]
)
QUEUE = pa.struct(
    [
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("first_seen_us", US),  # null: it was there before anybody noted
        ("readable", pa.bool_()),
        ("readable_us", US),  # since when it is so
    ]
)
BROKER = pa.struct(
    [
        # A broker with queues of the group that was read and then was not, or the other way round.
        ("broker", TEXT),
        ("at_us", US),
        ("is_read", pa.bool_()),
    ]
)
GROUPS = pa.schema(
    [
        # One row per group that may have a rebalance: what the rows of the poll know of it.
        ("cluster", TEXT),
        ("group", TEXT),
        ("since_us", US),  # changes before it do not count
        ("reach_us", US),  # readings before it are not looked at
        ("opened_us", US),  # key of the stored rebalance that is not over
        ("shares_queues", pa.bool_()),  # it is not known to pop
        ("episode_end_us", US),  # of the stored rebalance before
        ("episode_us", US),
        ("episode_after_us", US),  # the last reading before that episode began
        ("joined_us", pa.list_(US)),  # when members joined, in order: since that episode began, else since reach_us
        ("clients", pa.list_(MEMBER)),
        ("queues", pa.list_(QUEUE)),
        ("brokers", pa.list_(BROKER)),
        ("subscribed", pa.list_(TEXT)),  # topics, by the brokers' word
    ]
)
# What is read of the lake.
OWNERSHIP_COLUMNS = [
    *[name for name in OWNERSHIP.names if name != "locked"],
]
READINGS_COLUMNS = [*GROUP, *PLACE, "taken_at", "kind", "consumer_offset", "broker_offset", "unknown_reason"]

LAST_OWNERS = pa.schema(
    [
        # Who held a queue before it had no owner.
        ("cluster", TEXT),
        ("group", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("event_us", US),  # key of the rebalance
        ("at_us", US),  # of its last answer that held the queue
        ("client_id", TEXT),
        ("commit_offset", US),
        ("cached_min", US),
        ("cached_max", US),
    ]
)
EVENTS = pa.schema(
    [
        # One row per rebalance.
        ("cluster", TEXT),
        ("group", TEXT),
        ("started_after_us", US),  # null: no reading before it is known
        ("started_before_us", US),  # the first reading that shows a change: its key
        ("last_change_us", US),
        ("settled_us", US),  # the first of two complete readings that agree; null: not yet, or it was cut or given up
        ("dated_us", US),  # when, by the members' own clocks; null where none tells of a moment between the readings
        ("end_us", US),  # the newest reading that belongs to it
        ("episode_us", US),  # key of the first rebalance of its episode
        ("rollout", pa.bool_()),  # every member after it has started during the episode, and few more often than once
        ("polls", pa.int32()),  # readings up to settled_us, else to end_us
        ("cause", TEXT),
        ("evidence", TEXT),  # JSON: [{cause, …facts}]
        ("members_before", pa.int32()),
        ("members_after", pa.int32()),
        ("client_ids_before", pa.list_(TEXT)),  # null where started_after_us is
        ("client_ids_after", pa.list_(TEXT)),
        # For its costs.
        ("topics", pa.list_(TEXT)),  # that members subscribe to or hold queues of, by their own word
        ("is_broadcasting", pa.bool_()),
        ("before_us", US),  # the complete readings between which queues moved
        ("after_us", US),
        ("sampled_us", pa.list_(US)),  # all such readings from before_us to end_us
    ]
)
SPANS = pa.schema([("cluster", TEXT), ("group", TEXT), ("anchor_us", US)])

LAPSES = ["unowned_queue_seconds", "doubly_owned_queue_seconds", "doubly_owned_queues"]
REPLAYED = ["replayed_messages_low", "replayed_messages"]
REPLAYED_OFFSETS = ["replayed_from", "replayed_until"]  # half-open; null where nothing was replayed, or it is unknown
LAGS = ["lag_before_messages", "lag_peak_messages"]
LAPSES_OF_QUEUE = [f"{kind}_seconds{bound}" for kind in ("unowned", "doubly_owned") for bound in ("", "_low", "_high")]
MOVE = pa.struct(
    [
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("before", pa.list_(TEXT)),
        ("after", pa.list_(TEXT)),
        *[(name, pa.float64()) for name in LAPSES_OF_QUEUE],
        *[(name, pa.int64()) for name in (*REPLAYED, *REPLAYED_OFFSETS)],
        ("unknown", TEXT),  # JSON: {name of a null: why}
    ]
)
TOPICS = pa.schema(
    [
        # What a rebalance did to a topic; one without a moved queue has its row too.
        ("cluster", TEXT),
        ("group", TEXT),
        ("started_before_us", US),
        ("topic", TEXT),
        ("queues", pa.int32()),
        ("queues_moved", pa.int32()),
        ("unowned_queue_seconds", pa.float64()),
        ("doubly_owned_queue_seconds", pa.float64()),
        ("doubly_owned_queues", pa.int32()),
        *[(name, pa.int64()) for name in (*REPLAYED, *LAGS)],
        ("moves", pa.list_(MOVE)),  # of each queue that moved, lapsed or doubled
        ("unknown", TEXT),  # JSON: {name of a null: why}
    ]
)
