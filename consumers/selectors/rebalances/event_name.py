"""The name of a rebalance, which is also its address: `prod/billing/2026-03-14T02:14:24.123456Z`."""

from datetime import UTC, datetime

from consumers.models import Rebalance

FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def event_name(rebalance: Rebalance) -> str:
    group = rebalance.group
    return f"{group.cluster.name}/{group.name}/{moment_text(rebalance.started_before)}"


def moment_text(at: datetime) -> str:
    return at.astimezone(UTC).strftime(FORM)


def moment_of(text: str) -> datetime | None:
    """None where `text` is no moment as `moment_text` writes it."""
    try:
        return datetime.strptime(text, FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
