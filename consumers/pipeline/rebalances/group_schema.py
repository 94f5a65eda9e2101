"""The columns of the groups whose rebalances are looked for: what the rows of the poll know of each.

Times are microseconds; null is not known, of `gone_us` not gone.
"""

import pyarrow as pa

from consumers.lake.schemas import TEXT

US = pa.int64()

CLIENT = pa.struct(
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
        ("is_failing", pa.bool_()),  # it did not answer when it was last asked
        ("persist_ms", US),  # how often it commits
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
        ("cluster", TEXT),
        ("group", TEXT),
        ("since_us", US),  # changes before it do not count
        ("reach_us", US),  # readings before it are not looked at
        ("opened_us", US),  # key of the stored rebalance that is not over
        ("shares_queues", pa.bool_()),  # it is not known to pop
        ("episode_end_us", US),  # of the stored rebalance before
        ("episode_us", US),
        ("episode_after_us", US),  # the last reading before that episode began
        ("clients", pa.list_(CLIENT)),
        ("queues", pa.list_(QUEUE)),
        ("brokers", pa.list_(BROKER)),
    ]
)
