"""Which past moments a group can be brought back to."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from .wish import ResetRefused


def check_moment(cluster: str, at: datetime, now: datetime) -> None:
    """By the clock alone: what the history really holds then, the plan tells. Raises ResetRefused."""
    if at > now:
        raise ResetRefused(_("The moment is in the future: choose one that is over."))
    kept = timedelta(hours=settings.LAKE_RAW_HOURS)
    if at < now - kept:
        words = {
            "hours": f"{settings.LAKE_RAW_HOURS:g}",
            "first": f"{now - kept:%Y-%m-%d %H:%M} UTC",
            "cluster": cluster,
        }
        raise ResetRefused(
            _(
                "Offsets of %(cluster)s are kept for %(hours)s hours (CONSUMERSCOPE_LAKE_RAW_HOURS): choose a moment "
                "after %(first)s, or reset to a time, which goes by when messages were stored."
            )
            % words
        )
