"""Rows of resets. Field names are those of REST; null has its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, F, IntegerField, Value, When

from consumers.models import ResetKind, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.queries.declared import answer, answered, public
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import coded_reason, stored_words

CODES = "{field: the code of what it says, or of why it is null}; not of the words of a broker"


# The sums over the queues of one reset.
@answer("Sums over the queues of a reset. One that some queue does not give is null; `…_at_least` is what is known.")
@dataclass(frozen=True)
class ResetTotals:
    """`replayed_messages` and `skipped_messages` are null where one of the queues to move does not say. Target times
    are of the first messages that will be consumed, as far as they were read. `steps` and `outcomes` leave out what no
    queue has, and queues that are not touched.
    """

    queues: int = field(metadata=public("Chosen"))
    left_out: int = field(metadata=public("Of them are not touched"))
    standing: int = field(metadata=public("Of them are at their target already"))
    moving: int = field(metadata=public("Of them are to be moved: the rest"))
    done: int = field(metadata=public("Of those to be moved are over with, well or not"))
    clipped: int = field(metadata=public("Their targets were moved to the nearer end of the queue"))
    restorable: int
    not_restorable: int = field(metadata=public("To be moved, and without an offset to return to"))
    replayed_messages: int | None
    replayed_messages_at_least: int | None
    skipped_messages: int | None
    skipped_messages_at_least: int | None
    replayed_in_fact: int | None = field(
        metadata=public("Of the confirmed queues, from where each stood right before it was written")
    )
    skipped_in_fact: int | None
    earliest_target_time: datetime | None
    latest_target_time: datetime | None
    queues_with_target_time: int = field(metadata=public("Of so many queues the message at the target was read"))
    methods: dict[str, int] = field(metadata=public("{method: queues}"))
    steps: dict[str, int] = field(metadata=public("{step: queues}"))
    outcomes: dict[str, int] = field(metadata=public("{outcome: queues}"))
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenBroker:
    """A master as the plan saw it."""

    name: str
    version: str | None
    server_side: bool | None = field(metadata=public("It moves offsets itself"))
    permission: int | None = field(metadata=public("A sum of 4 (read) and 2 (write)"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer("The group as the plan saw it.")
@dataclass(frozen=True)
class SeenGroup:
    """No member at all: the group was offline."""

    members: list[str] | None = field(metadata=public("Client ids"))
    orderly: bool | None
    message_model: str | None
    consume_type: str | None
    brokers: list[SeenBroker]
    unknown: dict[str, str] = field(default_factory=dict)


@answer("An offset reset. What is not known, or is not yet, is null: `unknown` says why.")
@dataclass(frozen=True)
class ResetRow:
    """`kind` and `value` are what was wanted, see `ResetKind`; `topics`, `brokers` and `chosen_queues` where: null is
    all. A plan whose time is over is expired, whether or not a worker has noted it. `totals` and `seen` are null where
    there is no plan.
    """

    id: str = field(metadata=public(of=UUID))
    cluster: str
    group: str
    status: str = field(metadata=public(of=ResetStatus))
    kind: str = field(metadata=public(of=ResetKind))
    value: Any = field(metadata=public("What `kind` wants to know"))
    topics: list[str] | None
    brokers: list[str] | None
    chosen_queues: list[dict[str, Any]] | None = field(metadata=public("[{topic, broker, queue_id}]"))
    clip: bool = field(metadata=public("Targets outside min..max are moved to the nearer end"))
    by: str = field(metadata=public("Who planned it"))
    reason: str
    applied_by: str | None
    created_at: datetime
    planned_at: datetime | None
    expires_at: datetime | None = field(metadata=public("A plan that is not applied by then is void"))
    started_at: datetime | None
    working_at: datetime | None = field(metadata=public("When its worker was last seen to work on it"))
    finished_at: datetime | None
    seconds: float | None = field(metadata=public("Since it was started, to its end"))
    restores: str | None = field(metadata=public("The reset that it undoes", of=UUID))
    restored_by: list[str] = field(metadata=public("The resets that undo it", of=UUID))
    warnings: list[str] = field(metadata=public("What will happen, and to whom"))
    warning_codes: list[str | None] = field(metadata=public("The codes of `warnings`"))
    moved: list[str] | None = field(metadata=public("What had moved since the plan, so that it stopped"))
    moved_codes: list[str | None] = field(metadata=public("The codes of `moved`; none where it is null"))
    error: str | None
    seen: SeenGroup | None
    totals: ResetTotals | None
    unknown: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict, metadata=public(CODES))

    @property
    def is_planning(self) -> bool:
        return self.status == ResetStatus.PLANNING

    @property
    def is_planned(self) -> bool:
        return self.status == ResetStatus.PLANNED

    @property
    def is_applying(self) -> bool:
        return self.status == ResetStatus.APPLYING

    @property
    def has_ended(self) -> bool:
        return not (self.is_planning or self.is_planned or self.is_applying)


@dataclass(frozen=True)
class OffsetReading:
    """`offset` null: the broker said that nothing is committed there."""

    at: datetime
    offset: int | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("One queue: what the plan says of it, and what became of it.")
@dataclass(frozen=True)
class ResetQueueRow:
    """`after` is where it was read last. `left_out` is null where it is touched."""

    topic: str
    broker: str
    queue_id: int
    min_offset: int | None
    max_offset: int | None
    now: int | None = field(metadata=public("Where it stood at the plan"))
    wanted: int | None = field(metadata=public("The target before it was clipped"))
    target: int | None
    clipped: bool
    target_time: datetime | None = field(metadata=public("When the first message that will be consumed was stored"))
    replayed_messages: int | None
    skipped_messages: int | None
    restorable: bool = field(metadata=public("false: it had no offset to return to"))
    method: str | None = field(metadata=public(of=ResetMethod))
    left_out: str | None = field(metadata=public("Why it is not touched"))
    step: str = field(metadata=public(of=ResetStep))
    before: int | None = field(metadata=public("Where it stood right before it was written"))
    before_at: datetime | None
    written_at: datetime | None
    answered: int | None = field(metadata=public("The offset that the broker's answer named"))
    error: str | None
    readings: list[OffsetReading] = field(metadata=public("Read back: each that differs from the one before"))
    after: int | None
    after_at: datetime | None
    outcome: str | None = field(metadata=public(of=ResetOutcome))
    evidence: str | None
    unknown: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict, metadata=public(CODES))


@dataclass(frozen=True)
class ResetEventRow:
    """One act. `by` and `address` are null where a worker did it by itself."""

    at: datetime
    by: str | None
    address: str | None = field(metadata=public("Where the request came from"))
    via: str = field(metadata=public("page, rest or worker"))
    sentence: str
    unknown: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict, metadata=public(CODES))


# The queues of a reset: the plan of each, and its result.

# Queues without trouble come last: they rarely need a look.
TROUBLE_FIRST: tuple[dict[str, Any], ...] = (
    {"outcome": ResetOutcome.OVERWRITTEN},
    {"outcome": ResetOutcome.UNCHANGED},
    {"outcome": ResetOutcome.UNKNOWN},
    {"step": ResetStep.FAILED},
    {"step": ResetStep.UNANSWERED},
    {"step": ResetStep.NOT_DONE},
    {"left_out__isnull": False},
    {"step": ResetStep.WRITING},
    {"step": ResetStep.WRITTEN},
    {"clipped": True, "outcome": None},
    {"outcome": None},
)
NOTHING_WAS_WRITTEN = {
    ResetStep.PLANNED: RowReason.NOT_WRITTEN_YET,
    ResetStep.NOT_DONE: RowReason.ENDED_BEFORE,
}
# The names of REST, where the columns have other names.
NAMES = {"now_offset": "now"}
READ_BACK = ("after", "after_at", "outcome", "evidence")


def reset_queues(
    reset_id: UUID,
    *,
    outcome: str | None = None,
    step: str | None = None,
    left_out: bool | None = None,
    page: int,
    page_size: int,
) -> tuple[list[ResetQueueRow], int]:
    """Those with trouble first, then in order of topic, broker and id; and how many there are."""
    found = ResetQueue.objects.filter(reset=reset_id)
    if outcome is not None:
        found = found.filter(outcome=outcome)
    if step is not None:
        found = found.filter(step=step, left_out=None)
    if left_out is not None:
        found = found.filter(left_out__isnull=not left_out)
    whens = [When(**which, then=Value(place)) for place, which in enumerate(TROUBLE_FIRST)]
    trouble = Case(*whens, default=Value(len(whens)), output_field=IntegerField())
    ordered = found.order_by(trouble, F("topic"), F("broker"), F("queue_id"))
    start = (page - 1) * page_size
    return [queue_row(queue) for queue in ordered[start : start + page_size]], found.count()


def queue_row(queue: ResetQueue) -> ResetQueueRow:
    words = {name: stored_words(getattr(queue, name)) for name in ("left_out", "error", "evidence")}
    own = {NAMES.get(name, name): stored_words(reason) for name, reason in queue.unknown.items()}
    readings = [_reading(at, offset) for at, offset in queue.readings]
    why = _why(queue, words["left_out"]) | own
    return answered(ResetQueueRow, queue, why, now=queue.now_offset, readings=readings, **words)


def _reading(at: str, offset: int | None) -> OffsetReading:
    unknown: dict[str, str] = {"offset": coded_reason(RowReason.NO_COMMIT)} if offset is None else {}
    return OffsetReading(datetime.fromisoformat(at), offset, unknown)


def _why(queue: ResetQueue, left_out: str | None) -> dict[str, str]:
    no_commit, unread = coded_reason(RowReason.NO_COMMIT), coded_reason(RowReason.UNREAD)
    plan = left_out or unread
    unwritten = left_out or _nothing_written(queue)
    return {
        **dict.fromkeys(
            ("min_offset", "max_offset", "wanted", "target", "replayed_messages", "skipped_messages"), plan
        ),
        "now": left_out or no_commit,
        "target_time": left_out or coded_reason(RowReason.TARGET_MESSAGE_UNREAD),
        "method": plan,
        "left_out": coded_reason(RowReason.TAKES_PART),
        "before": unwritten or (unread if queue.before_at is None else no_commit),
        "before_at": unwritten or unread,
        "written_at": unwritten or coded_reason(RowReason.BEING_WRITTEN),
        "answered": unwritten or coded_reason(RowReason.NO_OFFSET_ANSWERED),
        "error": coded_reason(RowReason.NO_ERROR),
        **dict.fromkeys(READ_BACK, unwritten or coded_reason(RowReason.NOT_READ_BACK_YET)),
        **({"after": no_commit} if queue.after_at is not None else {}),
    }


def _nothing_written(queue: ResetQueue) -> str | None:
    at_target = queue.method == ResetMethod.NOTHING
    code = RowReason.AT_TARGET if at_target else NOTHING_WAS_WRITTEN.get(ResetStep(queue.step))
    return None if code is None else coded_reason(code)
