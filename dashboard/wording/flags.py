"""The lists of groups as words on a page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.groups.rows import ListKind

LISTS: dict[ListKind, str | Promise] = {
    ListKind.USER: _("in use"),
    ListKind.GHOST: _("inactive"),
    ListKind.SYSTEM: _("system"),
}
