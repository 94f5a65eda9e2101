"""What an export reads of the brokers, and that its worker shows that it lives meanwhile."""

import pytest

from consumers.dead_letters.export import Stock
from consumers.jobs.hold import close_wires
from tests.dead_letter_broker import a_dead_letter_broker, stored_letter
from tests.world import a_broker, a_cluster, a_group

pytestmark = pytest.mark.django_db


def test_it_shows_that_it_lives_before_each_broker_is_asked() -> None:
    """Nothing is written before all brokers have answered, which may take longer than a worker may be silent."""
    cluster, asked = a_cluster(), list[int]()
    with a_dead_letter_broker({7: stored_letter(7)}) as broker:
        for name in ("broker-a", "broker-b", "broker-c"):
            a_broker(cluster, name, address=broker.address)
        stock = Stock(cluster, a_group(cluster).name, 5.0, lambda: asked.append(len(broker.asked)))
        next(stock.pieces())
    close_wires()
    assert asked == [0, 1, 2]
