from typing import Any

import pytest

from consumers.selectors.read_only import is_read_only


@pytest.mark.parametrize(
    ("named", "read_only"),
    [([], False), (["prod"], True), (["prod-b"], False), (["Prod"], False), (["prod-b", "prod"], True), (["*"], True)],
)
def test_a_cluster_is_read_only_by_its_exact_name_or_with_all(settings: Any, named: list[str], read_only: bool) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = named
    assert is_read_only("prod") is read_only
