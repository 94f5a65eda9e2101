"""Who may plan, apply, resume, restore and cancel resets. Everybody may look."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.resets.acts import MAY_RESET, why_no_role
from consumers.resets.wish import Asker


class MayReset(BasePermission):
    @property
    def message(self) -> str:
        return why_no_role()

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or request.user.has_perm(MAY_RESET)


def asker_of(request: Request) -> Asker:
    """Behind a proxy the address is what the server in front of the site made of it."""
    return Asker(request.user, request.META.get("REMOTE_ADDR") or None, "rest")
