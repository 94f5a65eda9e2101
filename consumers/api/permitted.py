"""Everybody who is let in may look; changing something needs a permission, and a refusal names it."""

from collections.abc import Callable

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class MayChange(BasePermission):
    """`permission`: what whoever changes something holds. `why_not()`: a sentence for whoever does not."""

    permission: str
    why_not: Callable[[], str]

    @property
    def message(self) -> str:
        return type(self).why_not()

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or request.user.has_perm(self.permission)
