"""Who may open a page, its policy for charts, and what is wrong with a form."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

# Who may see pages, and the parts of pages that refresh by themselves.
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


# What a page with a chart may load beyond the site's policy: exactly what plotly.js needs to style its drawing.
# plotly.js sets style attributes and adds two style elements when it loads: one that it fills rule by rule and so
# begins empty, and the sheet of its maps. The hashes are those of their texts; a test computes them anew.
EMPTY_SHEET = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

MAP_SHEET = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"

DIRECTIVES: dict[str, Any] = {
    "style-src-elem": [SELF, EMPTY_SHEET, MAP_SHEET],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["blob:"],
}

with_charts = csp_update(DIRECTIVES)


# What is wrong with a form that was sent, for the summary at its top.
def problems(errors: Mapping[str, str]) -> list[tuple[str, str]]:
    """The id of the field and what is wrong with it; no id where it is of no one field."""
    return [(f"field-{name}" if name else "", sentence) for name, sentence in errors.items()]
