"""Acknowledges incidents and takes acknowledgements back. Neither stops an incident or its notifications."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from consumers.jobs.audit import note
from consumers.models import Incident, IncidentEvent, IncidentEventKind, IncidentStatus

from .fields import WrongValue
from .fields import text as text_of
from .refused import MAY_MANAGE, AlertRefused, why_no_role

LONGEST_TEXT = 2000
FIELDS = ["acknowledged_at", "acknowledged_by", "acknowledged_by_name", "acknowledgement"]


def why_not_acknowledged(incident: Incident, user: Any) -> str | None:
    """Null where `user` may acknowledge the incident. A second acknowledgement replaces the first one."""
    if not user.has_perm(MAY_MANAGE):
        return why_no_role()
    if incident.status == IncidentStatus.FIRING:
        return None
    words = {IncidentStatus.PENDING: _("it does not fire yet"), IncidentStatus.RESOLVED: _("this one is over")}
    return _("Only an incident that fires can be acknowledged, and %s.") % words[IncidentStatus(incident.status)]


def why_not_unacknowledged(incident: Incident, user: Any) -> str | None:
    if against := why_not_acknowledged(incident, user):
        return against
    return _("Nobody has acknowledged it.") if incident.acknowledged_at is None else None


def acknowledge(incident: Incident, by: Any, text: str, now: datetime) -> None:
    """Acknowledges the incident. `text` may be empty. Repeating the same acknowledgement changes nothing. Raises
    AlertRefused.
    """
    said = _checked(text)
    with transaction.atomic():
        _take_turn(incident)
        if against := why_not_acknowledged(incident, by):
            raise AlertRefused(against)
        name = by.get_username()
        if incident.acknowledged_at is not None and (name, said) == _acknowledged(incident):
            return
        incident.acknowledged_at, incident.acknowledged_by, incident.acknowledged_by_name = now, by, name
        incident.acknowledgement = said
        incident.save(update_fields=FIELDS)
        words = _("Acknowledged: %s") % said if said else _("Acknowledged.")
        _note(incident, IncidentEventKind.ACKNOWLEDGED, words, by, now)


def unacknowledge(incident: Incident, by: Any, now: datetime) -> None:
    """Takes the acknowledgement back. Raises AlertRefused."""
    with transaction.atomic():
        _take_turn(incident)
        if against := why_not_unacknowledged(incident, by):
            raise AlertRefused(against)
        incident.acknowledged_at, incident.acknowledged_by, incident.acknowledged_by_name = None, None, None
        incident.acknowledgement = ""
        incident.save(update_fields=FIELDS)
        _note(incident, IncidentEventKind.UNACKNOWLEDGED, _("Nobody looks after it any more."), by, now)


def _checked(text: str) -> str:
    try:
        return str(text_of(LONGEST_TEXT)(text))
    except WrongValue as wrong:
        raise AlertRefused({"text": str(wrong)}) from None


def _take_turn(incident: Incident) -> None:
    """Locks the incident's row, so that people and the evaluation change it one after the other."""
    if Incident.objects.select_for_update().filter(pk=incident.pk).first() is None:
        raise AlertRefused(_("It is over, and not kept any more."))
    incident.refresh_from_db()


def _acknowledged(incident: Incident) -> tuple[str | None, str]:
    return incident.acknowledged_by_name, incident.acknowledgement


def _note(incident: Incident, kind: IncidentEventKind, sentence: str, by: Any, now: datetime) -> None:
    newest: int | None = IncidentEvent.objects.filter(incident=incident).aggregate(newest=Max("sequence"))["newest"]
    IncidentEvent.objects.create(
        incident=incident,
        sequence=(newest or 0) + 1,
        at=now,
        kind=kind,
        sentence=sentence,
        by_name=by.get_username(),
    )
    note(incident, str(incident), by, sentence, now)
