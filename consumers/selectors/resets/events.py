"""The acts around a reset, in the order in which they came."""

from uuid import UUID

from consumers.models import ResetEvent

from .rows import ResetEventRow

BY_A_WORKER = "a worker did it by itself"
NO_ADDRESS = "the request did not say where it came from"


def reset_events(reset_id: UUID) -> list[ResetEventRow]:
    return [_row(event) for event in ResetEvent.objects.filter(reset=reset_id).order_by("pk")]


def _row(event: ResetEvent) -> ResetEventRow:
    unknown = {}
    if event.by_name is None:
        unknown["by"] = BY_A_WORKER
    if event.address is None:
        unknown["address"] = BY_A_WORKER if event.by_name is None else NO_ADDRESS
    return ResetEventRow(event.at, event.by_name, event.address, event.via, event.sentence, unknown)
