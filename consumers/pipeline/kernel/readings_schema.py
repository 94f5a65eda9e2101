"""The lists that a queue's row carries into the kernel, as Spark makes them."""

import pyarrow as pa

TIMES_AND_OFFSETS = ("at_us", "consumer_offset", "broker_offset", "min_offset", "pull_offset", "first_us")
READINGS = pa.struct([*((name, pa.int64()) for name in TIMES_AND_OFFSETS), ("reason", pa.string())])
LAGS = pa.struct(
    [("at_us", pa.int64()), ("seconds", pa.float64()), ("kind", pa.string()), ("error_seconds", pa.float64())]
)
HANDS = pa.struct([("from_us", pa.int64()), ("to_us", pa.int64())])
MINUTES = pa.struct(
    [
        ("start_us", pa.int64()),
        ("time_lag_seconds", pa.float64()),
        ("time_lag_kind", pa.string()),
        ("lag_messages", pa.int64()),
        ("consume_rate", pa.float64()),
        ("produce_rate", pa.float64()),
    ]
)
