import re
from pathlib import Path

import pytest

from dashboard.launch.launcher import DEMO_PACE, child_environment

SETTINGS = Path(__file__).resolve().parents[3] / "dashboard" / "settings"


def test_it_leaves_what_the_user_has_set() -> None:
    given = {"SPARK_MASTER": "spark://there:7077", "CONSUMERSCOPE_POLL_SECONDS": "7"}
    environ = child_environment(given, Path("/home"), demo=True)
    assert {name: environ[name] for name in given} == given


def test_it_gives_spark_one_core_of_one_machine() -> None:
    environ = child_environment({}, Path("/home"), demo=False)
    assert (environ["SPARK_MASTER"], environ["SPARK_DRIVER_MEMORY"]) == ("local[1]", "1g")


def test_it_never_hurries_the_judgement_of_a_users_own_cluster() -> None:
    assert DEMO_PACE.keys().isdisjoint(child_environment({}, Path("/home"), demo=False))


@pytest.mark.parametrize("name", DEMO_PACE)
def test_it_sets_only_what_the_settings_read(name: str) -> None:
    from django.conf import settings

    read = re.findall(r"CONSUMERSCOPE_[A-Z_]+", "".join(path.read_text() for path in SETTINGS.glob("*.py")))
    assert name in [*read, *(f"CONSUMERSCOPE_{rule.upper()}" for rule in settings.JUDGE)]
