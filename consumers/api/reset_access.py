"""Who may plan, apply, resume, restore and cancel resets. Everybody may look."""

from rest_framework.request import Request

from consumers.resets.acts import MAY_RESET, why_no_role
from consumers.resets.wish import Asker

from .permitted import MayChange


class MayReset(MayChange):
    permission = MAY_RESET
    why_not = staticmethod(why_no_role)


def asker_of(request: Request) -> Asker:
    """Behind a proxy the address is what the server in front of the site made of it."""
    return Asker(request.user, request.META.get("REMOTE_ADDR") or None, "rest")
