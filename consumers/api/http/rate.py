"""How many requests one token, or one user's sessions, may make in a minute."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from consumers.errands.counts import counts
from consumers.models import ApiToken

if TYPE_CHECKING:
    # Views import this.
    from rest_framework.views import APIView


WINDOW_SECONDS = 60
# Not /metrics: a scrape that is refused leaves a hole in every chart.
LIMITED = "/api/"
# What takes as long as a usual request: 50 ms. Wider answers count for several.
POINTS_OF_A_REQUEST = 2_000
ROWS_OF_A_REQUEST = 100


@dataclass(frozen=True)
class Rate:
    """`left` requests in the `seconds` that are left of the window."""

    most: int
    left: int
    seconds: int

    def headers(self) -> dict[str, str]:
        """As draft-ietf-httpapi-ratelimit-headers has them."""
        return {
            "RateLimit-Policy": f'"minute";q={self.most};w={WINDOW_SECONDS}',
            "RateLimit": f'"minute";r={self.left};t={self.seconds}',
        }


class RateLimit(BaseThrottle):
    """Counts who is let in; who is not has been refused before. Its rate stands on the request, for conditional.py."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        most = settings.API_RATE
        if not most or not request.path.startswith(LIMITED):
            return True
        now = time.time()
        used = counts().add(_who(request), now=now, seconds=WINDOW_SECONDS)
        self._seconds = WINDOW_SECONDS - int(now) % WINDOW_SECONDS
        _note(request, used, self._seconds)
        return used <= most

    def wait(self) -> float:
        return self._seconds


def charge(request: Request, *, points: int = 0, rows: int = 0) -> None:
    """What an answer costs beyond the one request that it was let in for. Whoever has any left is let in: what
    nobody could know before leaves less for the rest of the minute."""
    more = max(points // POINTS_OF_A_REQUEST, rows // ROWS_OF_A_REQUEST) - 1
    if more > 0 and hasattr(request._request, "rate"):
        now = time.time()
        used = counts().add(_who(request), now=now, seconds=WINDOW_SECONDS, more=more)
        _note(request, used, WINDOW_SECONDS - int(now) % WINDOW_SECONDS)


def _note(request: Request, used: int, seconds: int) -> None:
    most = settings.API_RATE
    request._request.rate = Rate(most, max(0, most - used), seconds)  # type: ignore[attr-defined]


def _who(request: Request) -> str:
    auth: Any = request.auth
    return f"token-{auth.pk}" if isinstance(auth, ApiToken) else f"user-{request.user.pk}"
