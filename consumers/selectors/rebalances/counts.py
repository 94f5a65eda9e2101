"""How many rebalances there were, always beside how many episodes they make: the two are never taken for each other."""

from django.utils.translation import gettext, ngettext

from consumers.selectors.text.measures import count


def rebalance_counts(rebalances: int, episodes: int) -> str:
    """`14 rebalances in 1 episode`: those with less than a minute between two are one episode."""
    words = {
        "rebalances": ngettext("%(n)s rebalance", "%(n)s rebalances", rebalances) % {"n": count(rebalances)},
        "episodes": ngettext("%(n)s episode", "%(n)s episodes", episodes) % {"n": count(episodes)},
    }
    return gettext("%(rebalances)s in %(episodes)s") % words
