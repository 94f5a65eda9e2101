"""Which choices the top bar of a page has: none that would change nothing on it."""

from django.http import HttpRequest

OF_ALL_CLUSTERS = frozenset(
    {"tokens", "token_revoke", "password", "password_changed", "states", "patterns", "connection"}
    | {"alert_rules", "alert_rule", "alert_rule_add", "alert_rule_remove", "channels", "channel", "channel_add"}
    | {"channel_remove", "silences", "alert_notes", "alert_note", "alert_note_add", "alert_note_remove"}
)
OF_ALL_TIMES = OF_ALL_CLUSTERS | {"clusters", "findings", "resets", "search"}


def bar_of(request: HttpRequest) -> dict[str, bool]:
    """What the bar leaves out. A page without an address of its own leaves out nothing."""
    name = request.resolver_match.url_name if request.resolver_match else None
    return {"has_no_range": name in OF_ALL_TIMES, "has_no_clusters": name in OF_ALL_CLUSTERS}
