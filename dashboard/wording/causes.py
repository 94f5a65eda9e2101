"""How restless a group is, as words on a page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.rebalances.flapping import Level

LEVELS: dict[str, str | Promise] = {
    Level.FLAPPING: _("flapping"),
    Level.UNSETTLED: _("unstable"),
    Level.RESTLESS: _("restless"),
    Level.CALM: _("stable"),
}
