"""How much /metrics gives: what is left out is counted there."""

from .environment import number, words

# Groups whose names match one of these patterns (as in a shell), of all families.
METRICS_GROUPS = words("METRICS_GROUPS", "*")
# So many series one family has at the most.
METRICS_SERIES = int(number("METRICS_SERIES", 50000, least=1))
# Families that have a series for each queue, or each member and topic: 0 leaves them out.
METRICS_QUEUE_SERIES = int(number("METRICS_QUEUE_SERIES", 0))
METRICS_CLIENT_SERIES = int(number("METRICS_CLIENT_SERIES", 10000))
