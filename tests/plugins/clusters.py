"""Live tests that share a RocketMQ cluster run one after the other, in one process: with `--dist loadgroup`.

Those of another cluster, or that start their own, run beside them. So no cluster is started twice.
"""

import pytest

# Clusters of a session, the most shared first: a test of two belongs to the first.
SHARED = ("rocketmq", "_rocketmq_pair", "older_rocketmq")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before xdist reads the mark."""
    for item in items:
        if any(item.iter_markers("live")):
            item.add_marker(pytest.mark.xdist_group(group_of(item)))


def group_of(item: pytest.Item) -> str:
    names = getattr(item, "fixturenames", ())
    return next((cluster for cluster in SHARED if cluster in names), item.path.stem)
