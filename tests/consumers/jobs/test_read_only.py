from typing import Any

import pytest

from consumers.jobs.hold import why_read_only
from tests.world import a_cluster

pytestmark = pytest.mark.django_db


def test_the_sentence_names_the_cluster_and_what_to_do(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    said = why_read_only("prod")
    assert said is not None
    assert "prod is marked read-only" in said
    assert "CONSUMERSCOPE_READ_ONLY_CLUSTERS" in said


def test_the_sentence_names_the_other_cluster_whose_addresses_these_are(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    for name in ("prod", "prod-again"):
        a_cluster(name, namesrv="ns-1:9876")
    said = why_read_only("prod-again")
    assert said is not None
    assert "prod-again shares a name server or broker with prod, which is marked read-only" in said


def test_nothing_is_said_of_a_cluster_that_may_be_written_to(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_cluster("prod", namesrv="ns-1:9876")
    a_cluster("staging", namesrv="ns-2:9876")
    assert why_read_only("staging") is None
