"""The gauges of alerts: how fresh their evaluation is, what fires by it, and what waits to be told."""

from collections.abc import Iterator
from datetime import datetime

from consumers.alerts.queries.deliveries import waiting_messages
from consumers.alerts.queries.incidents import firing_by_severity
from consumers.queries.evaluation import evaluated

from .exposition import Family


def alert_families(now: datetime) -> Iterator[Family]:
    """Everything is read here. What fires is known only where rules were evaluated lately."""
    evaluation, waiting = evaluated(now), waiting_messages(now)
    age = None if evaluation.at is None else max(0.0, (now - evaluation.at).total_seconds())
    yield Family(
        "consumerscope_alerts_evaluation_age_seconds", "How long ago alert rules were last evaluated.", (),
        [] if age is None else [((), age)],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_firing", "Incidents that fire, where rules were evaluated lately.", ("severity",),
        [] if evaluation.firing is None else [((severity,), count) for severity, count in firing_by_severity().items()],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_deliveries_waiting", "Messages that wait to be sent through the channel.", ("channel",),
        [((channel.channel,), channel.messages) for channel in waiting],
    )  # fmt: skip
    yield Family(
        "consumerscope_alerts_channel_failing_seconds", "For how long whatever was tried through it was not taken.",
        ("channel",),
        [((one.channel,), one.failing.total_seconds()) for one in waiting if one.failing is not None],
    )  # fmt: skip
