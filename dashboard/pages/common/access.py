"""Who may see pages, and the parts of pages that refresh by themselves."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

View = Callable[..., HttpResponse]


def page(view: View) -> View:
    return require_safe(never_cache(login_required(view)))


def part(view: View) -> View:
    """A fragment. Who is not logged in any more is led to the login page, not shown it inside the page."""
    guarded = page(view)

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.htmx and not request.user.is_authenticated:  # type: ignore[attr-defined]
            return HttpResponseClientRefresh()
        return guarded(request, *args, **kwargs)

    return answer
