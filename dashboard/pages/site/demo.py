"""The story of the demo: what each of its groups shows, for the side panel of every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

# The name that the launcher registers the demo's cluster under.
CLUSTER = "demo"

# The groups that need attention first, in the order in which they do.
STORY = (
    ("audit", _("STOP after 3 min: its members left, and orders keep arriving.")),
    ("inventory", _("STALL after 3 min: one message that always fails blocks its queue.")),
    ("billing", _("WARN after 5 min: it needs 2 s per message, so its lag grows.")),
    ("email", _("DLQ inflow after 5 min: some messages fail at every attempt.")),
    ("search-index", _("Unstable after 10 min: a member joins and leaves every 40 s.")),
    ("checkout", _("OK: three members keep up.")),
    ("pricing-cache", _("OK: broadcasting, so each member consumes every message.")),
)


def demo_of(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: the demo's cluster and its story, None and nothing on a site without a demo."""
    if not settings.CONSUMERSCOPE_DEMO:
        return {"demo": None}
    return {"demo": CLUSTER, "demo_story": STORY}
