"""Finds single queues in a broker's rows, which may be a million."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Place = tuple[str, str, int]  # group, topic, queue id


def places(rows: pa.Table, wanted: Collection[Place]) -> dict[Place, int]:
    """The index in `rows` (group, topic, queue_id, …) of each wanted queue that is there."""
    if not wanted or not rows.num_rows:
        return {}
    groups = pa.array(sorted({group for group, _, _ in wanted}), pa.string())
    at = np.flatnonzero(pc.is_in(rows["group"].cast(pa.string()), value_set=groups).to_numpy())
    names = [rows[name].take(pa.array(at)).cast(pa.string()) for name in ("group", "topic", "queue_id")]
    keys = list(wanted)
    # No name of RocketMQ's holds a line feed.
    texts = pa.array([f"{group}\n{topic}\n{queue_id}" for group, topic, queue_id in keys], pa.string())
    found = pc.index_in(pc.binary_join_element_wise(*names, "\n"), value_set=texts)
    hits = np.flatnonzero(found.is_valid().to_numpy())
    which = found.take(pa.array(hits)).to_numpy()
    return {keys[key]: int(at[hit]) for hit, key in zip(hits.tolist(), which.tolist(), strict=True)}


def behind(rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the rows whose lag is known and above zero, and those lags."""
    lag = pc.fill_null(pc.subtract(rows["broker_offset"], rows["consumer_offset"]), 0).to_numpy()
    at = np.flatnonzero((lag > 0) & rows["unknown_reason"].is_null().to_numpy())
    return at, lag[at]
