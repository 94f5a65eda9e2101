"""A reset as an answer, whole: the plan, what became of it, and what whoever asks may do with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from consumers.models import Reset
from consumers.queries.declared import URL, answer, public
from consumers.resets.acts import why_not_restored
from consumers.resets.permission import MAY_RESET, why_no_role, why_not_applied, why_not_cancelled, why_not_resumed
from consumers.resets.queries.queues import reset_queues
from consumers.resets.queries.resets import find_reset, reset_events
from consumers.resets.queries.rows import ResetEventRow, ResetQueueRow, ResetRow
from consumers.resets.wish import Asker
from consumers.rest.access import MayChange
from consumers.rest.answers import object_response


class MayReset(MayChange):
    permission = MAY_RESET
    why_not = staticmethod(why_no_role)


def asker_of(request: Request) -> Asker:
    """Behind a proxy the address is what the server in front of the site made of it."""
    return Asker(request.user, request.META.get("REMOTE_ADDR") or None, "rest")


@answer("What may be done with it, by whoever asks, at this moment: null, or the sentence why not.")
@dataclass(frozen=True, kw_only=True)
class Acts:
    apply: str | None
    resume: str | None
    restore: str | None
    cancel: str | None


@dataclass(frozen=True, kw_only=True)
class WholeReset(ResetRow):
    acts: Acts
    queues: Sequence[ResetQueueRow] | None = field(metadata=public("null where there are more than 1,000"))
    queues_url: str = field(metadata=public("All of them, in pages", of=URL))
    events: Sequence[ResetEventRow] = field(metadata=public("Who did what with it, in order"))


# A longer list of queues is only to be had in pages.
QUEUES_INLINE = 1_000


def found_reset(reset_id: UUID) -> Reset:
    """Raises NotFound."""
    found = Reset.objects.select_related("group__cluster").filter(pk=reset_id).first()
    if found is None:
        raise NotFound(f"There is no reset {reset_id}.")
    return found


def reset_answer(request: Request, reset_id: UUID, code: int) -> Response:
    now, reset = timezone.now(), found_reset(reset_id)
    row = find_reset(reset_id, now)
    assert row is not None
    queues, why = None, ""
    if row.totals is None:
        why = row.unknown["totals"]
    elif row.totals.queues > QUEUES_INLINE:
        why = f"there are {row.totals.queues}: queues_url has them in pages"
    else:
        queues, _ = reset_queues(reset_id, page=1, page_size=QUEUES_INLINE)
    whole = WholeReset(
        **vars(row) | {"unknown": row.unknown | ({"queues": why} if queues is None else {})},
        acts=_acts(reset, request.user),
        queues=queues,
        queues_url=request.build_absolute_uri(reverse("api-reset-queues", args=[reset_id])),
        events=reset_events(reset_id),
    )
    return object_response(request, WholeReset, whole, code)


def _acts(reset: Reset, user: Any) -> Acts:
    return Acts(
        apply=why_not_applied(reset, user, timezone.now()),
        resume=why_not_resumed(reset, user, timezone.now()),
        restore=why_not_restored(reset, user),
        cancel=why_not_cancelled(reset, user),
    )
