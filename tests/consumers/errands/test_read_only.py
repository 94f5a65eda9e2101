from typing import Any

from consumers.errands.read_only import why_read_only


def test_the_sentence_names_the_cluster_and_what_to_do(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    said = why_read_only("prod")
    assert said is not None
    assert "prod is marked read-only" in said
    assert "CONSUMERSCOPE_READ_ONLY_CLUSTERS" in said


def test_nothing_is_said_of_a_cluster_that_may_be_written_to(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    assert why_read_only("staging") is None
