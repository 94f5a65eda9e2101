"""What a document says, leaf by leaf, and which of it is a lie: shared by the walks of a made and of a real world."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Zeros that are so whatever is not read: RocketMQ gives the master the id 0; nothing is listed, or none of what is
# listed is read; no reading fell into a window.
TRUE_ZEROS = {
    ("brokers", "id"),
    ("", "count"),
    ("", "brokers_listed"),
    ("", "brokers_read"),
    # Previews that wait before one.
    ("", "ahead"),
    ("points", "readings"),
    ("points", "answers"),
    # A broker that refuses a connection costs no call.
    ("brokers", "calls"),
    ("brokers", "bytes"),
    # Of a group that is read, and has its offsets.
    ("", "lost_queues"),
    # Where a member starts that neither skips nor redelivers; and from a start, it does one of the two.
    ("", "would_skip_messages"),
    ("", "would_redeliver_messages"),
    # While its owners stay, a broker's death repeats nothing: they commit again.
    ("exposure", "broker_dies"),
    # Of a group whose retry topics no reading saw.
    ("due", "queues"),
    # An orderly member finishes no message before the oldest one that it holds.
    ("blocked", "finished_out_of_order"),
    # A queue that is moved back skips nothing, and one that is moved on repeats nothing.
    *((inside, f"{way}_messages") for inside in ("", "queues") for way in ("replayed", "skipped")),
}
# Of a cluster that was never read no reading failed.
TRUE_ZEROS_OF = {"never_read_cluster": {("", "failed_readings")}}
# Claims that stay true whatever is not read: what a reading got, that a broker did not answer, and that a queue which
# is read has an offset.
TRUE_FALSES = {
    ("last_reading", "complete"),
    ("brokers", "reachable"),
    # A minute that was judged is over; and a condition that was seen not to hold does not.
    ("windows", "is_open"),
    # The newest window was not aggregated to its end.
    ("points", "complete"),
    ("conditions", "ok"),
    ("", "never_committed"),
    # Of a rebalance: no two readings have agreed.
    ("", "settled"),
    # A state of now, or one that is not known, is not the last known one.
    ("", "stale"),
    ("groups", "stale"),
    ("queues", "stale"),
    # A log that is read as often as it should be.
    ("logs", "is_late"),
    # What people have asked for, and not.
    ("", "again"),
    ("", "cancel_wanted"),
    ("", "clip"),
    # What the site's settings say.
    ("", "read_only"),
    # Of a message that tells of incidents, and of a rule that was made here.
    *((inside, "is_test") for inside in ("", "deliveries", "last_delivery")),
    ("", "is_default"),
    ("", "is_own"),
    # Each try is noted before it is sent, and whoever received it said that nothing was taken.
    *((inside, "may_have_arrived") for inside in ("", "deliveries", "last_delivery")),
    # Of a queue that a reset does not touch.
    *((inside, name) for inside in ("", "queues") for name in ("clipped", "restorable")),
}
# Where null says that there is no such thing: no other page, no single queue that decided, all topics together.
NO_SUCH_THING = {
    ("", "next"),
    ("", "previous"),
    ("", "worst_queue"),
    ("series", "topic"),
    ("series", "broker"),
    ("series", "queue_id"),
    ("anomalies", "topic"),
    ("anomalies", "broker"),
    ("brokers", "error"),
    ("brokers", "note"),
    ("brokers", "read_from"),
    ("brokers", "failing_since"),
    ("last_reading", "error"),
    ("logs", "gone_at"),
    ("groups", "gone_by"),
    ("groups", "running_info_error"),
    ("logs", "problem"),
    ("logs", "problem_code"),
    # Null with the numbers that it is about.
    ("exposure", "as_of"),
    # A store in memory is not written to a disk, and a broker's is no client's.
    ("stores", "client_id"),
    ("stores", "persisted_at"),
    ("stores", "usual_period_seconds"),
    ("stores", "finding"),
    # Below the third level no retry waits by default, and of a sample without a message there is no time.
    ("ladder", "retry"),
    ("sampled", "oldest_waiting_at"),
    ("sampled", "next_due_at"),
    # What a message does not have.
    ("message", "origin_topic"),
    ("message", "keys"),
    ("message", "tags"),
    # Nothing stands against what may be done.
    *(("acts", act) for act in ("apply", "resume", "restore", "cancel")),
}
# What an empty list would claim.
LISTS = {"topics", "clients", "subscriptions", "subscription"}
# The reasons themselves.
REASONS = {"unknown_reason", "unknown_reason_code"}


@dataclass(frozen=True)
class Leaf:
    """One value of a document: the field's name, the name of the object it is in, and that object with its parent."""

    path: str
    inside: str
    name: str
    value: Any
    beside: dict[str, Any]
    above: dict[str, Any]

    @property
    def place(self) -> tuple[str, str]:
        return self.inside, self.name

    @property
    def reason(self) -> str | None:
        """Why the value is null, wherever the document says that."""
        if self.inside == "stores":
            # A lag from a store's offset needs the end of the queue too.
            return self.beside.get("finding") or self.above.get("unknown", {}).get("broker_offset")
        if self.name == "lag_messages" or (self.inside == "points" and self.beside.get("unknown_reason")):
            return self.beside.get("unknown_reason")
        if self.inside == "exposure":
            return self.above.get("unknown", {}).get(f"exposure.{self.name}")
        return self.beside.get("unknown", {}).get(self.name)


def leaves(path: str, value: Any) -> Iterator[Leaf]:
    yield from _leaves(path, "", "", value, {}, {})


def _leaves(
    path: str, inside: str, name: str, value: Any, beside: dict[str, Any], above: dict[str, Any]
) -> Iterator[Leaf]:
    if isinstance(value, dict):
        here = inside if name in ("", "results") else name
        for key, item in value.items():
            yield from _leaves(path, here, key, item, value, beside)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _leaves(path, inside, name, item, beside, above)
    else:
        yield Leaf(path, inside, name, value, beside, above)


def invented_zeros(walked: list[Leaf], world: str) -> Iterator[Leaf]:
    true = TRUE_ZEROS | TRUE_ZEROS_OF.get(world, set())
    for leaf in walked:
        if type(leaf.value) in (int, float) and leaf.value == 0 and leaf.place not in true:
            yield leaf


def denials_without_an_answer(walked: list[Leaf], world: str) -> Iterator[Leaf]:
    yield from (leaf for leaf in walked if leaf.value is False and leaf.place not in TRUE_FALSES)


def nulls_without_a_reason(walked: list[Leaf], world: str) -> Iterator[Leaf]:
    for leaf in walked:
        if leaf.value is None and leaf.name not in REASONS and leaf.place not in NO_SUCH_THING and not leaf.reason:
            yield leaf


def lists_empty_for_want_of_an_answer(walked: list[Leaf], world: str) -> Iterator[Leaf]:
    yield from (leaf for leaf in walked if leaf.value == [] and leaf.name in LISTS and not leaf.reason)


def empty_texts(walked: list[Leaf], world: str) -> Iterator[Leaf]:
    yield from (leaf for leaf in walked if leaf.value == "")


LIES = (
    invented_zeros,
    denials_without_an_answer,
    nulls_without_a_reason,
    lists_empty_for_want_of_an_answer,
    empty_texts,
)
