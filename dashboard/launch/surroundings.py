"""The environment of the programs that a launch starts. What the user has set stays as it is."""

from collections.abc import Mapping
from pathlib import Path

# One machine runs it all: Spark gets one core and little memory.
SMALL_MACHINE = {"SPARK_MASTER": "local[1]", "SPARK_DRIVER_MEMORY": "1g"}

# The demo tells its story within minutes, so it is read and judged over shorter times than a cluster in earnest.
DEMO_PACE = {
    "CONSUMERSCOPE_POLL_SECONDS": "5",
    "CONSUMERSCOPE_AGGREGATE_SECONDS": "15",
    "CONSUMERSCOPE_WINDOW_SECONDS": "60",
    "CONSUMERSCOPE_PROVISIONAL_SECONDS": "20",
    "CONSUMERSCOPE_ALLOWANCE_SECONDS": "20",
    "CONSUMERSCOPE_STOP_WITHOUT_MEMBERS_SECONDS": "30",
    "CONSUMERSCOPE_STALL_SECONDS": "75",
    # The trend is made of whole minutes: a slope wants three of them.
    "CONSUMERSCOPE_TREND_SECONDS": "180",
    "CONSUMERSCOPE_WARN_TIME_LAG_SECONDS": "30",
}


def child_environment(environ: Mapping[str, str], home: Path, *, demo: bool) -> dict[str, str]:
    own = {"CONSUMERSCOPE_HOME": str(home), "PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    return {**SMALL_MACHINE, **(DEMO_PACE if demo else {}), **environ, **own}
