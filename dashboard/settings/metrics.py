"""How much /metrics gives: what is left out is counted there."""

from .environment import number, section, words

section("Metrics", "How much [/metrics](metrics.md#how-many-series) returns.")

METRICS_GROUPS = words(
    "METRICS_GROUPS",
    "*",
    "Groups whose names match one of these patterns, separated by commas. Other groups are omitted.",
)
METRICS_SERIES = int(number("METRICS_SERIES", 50000, "The maximum number of series in one family.", least=1))
METRICS_QUEUE_SERIES = int(
    number("METRICS_QUEUE_SERIES", 0, "The maximum number of series per queue in one family. 0 omits them.")
)
METRICS_CLIENT_SERIES = int(
    number(
        "METRICS_CLIENT_SERIES", 10000, "The maximum number of series in each `rocketmq_client_*` family. 0 omits them."
    )
)
