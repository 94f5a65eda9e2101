"""The row that a form is about: held while it is changed, and not kept over what somebody else kept meanwhile.

Forms carry `version`: when their row had been changed as they were opened. One that names none asks for no check.
"""

from collections.abc import Mapping
from typing import TypeVar

from django.http import Http404
from django.utils.translation import gettext as _

from consumers.alerts.refused import AlertRefused
from consumers.models import AlertRule, Channel, GroupNote
from dashboard.wording.times import absolute

VERSION = "version"
Row = TypeVar("Row", AlertRule, Channel, GroupNote)


def held(row: Row) -> Row:
    """As it is now, and as it stays until the transaction ends."""
    found: Row | None = type(row).objects.select_for_update().filter(pk=row.pk).first()
    if found is None:
        raise Http404(_("It was deleted in the meantime."))
    return found


def held_as_seen(row: Row | None, said: Mapping[str, str]) -> Row | None:
    """None where there is no row yet. Raises AlertRefused where it is another than `said` was typed about."""
    if row is None:
        return None
    found = held(row)
    if said.get(VERSION) in (None, "", version_of(found)):
        return found
    by = _(" by %s") % found.changed_by_name if found.changed_by_name else ""
    words = {"by": by, "at": absolute(found.changed_at)}
    sentence = _("Could not save: changed%(by)s at %(at)s. Check the new version, then save again to overwrite it.")
    raise AlertRefused({VERSION: sentence % words})


def version_shown(row: Row | None, said: Mapping[str, str], errors: Mapping[str, str]) -> str:
    """Of the form: the one that it was opened with, until its reader was told that another one is kept."""
    if row is None:
        return ""
    return version_of(row) if VERSION in errors else said.get(VERSION) or version_of(row)


def version_of(row: Row) -> str:
    return row.changed_at.isoformat()
