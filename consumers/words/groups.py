"""Kinds of groups."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.groups import Flag

FLAGS: dict[str, str | Promise] = {
    Flag.SYSTEM: _("system"),
    Flag.GHOST: _("inactive"),
    Flag.PAUSED: _("paused"),
    Flag.HABITUAL: _("offline by habit"),
    Flag.RETIRED_TOPICS: _("retired topics"),
    Flag.OUTSIDE_STORE: _("progress stored outside"),
    Flag.UNLISTED_MEMBERS: _("members not listed"),
    Flag.BROADCASTING: _("broadcasting"),
    Flag.POP: _("POP"),
    Flag.TAG_FILTERED: _("tag filter"),
}
