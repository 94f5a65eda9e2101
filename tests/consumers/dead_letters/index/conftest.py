from collections.abc import Iterator

import pytest

from consumers.jobs.hold import close_wires
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.world import a_broker, a_cluster, a_group


@pytest.fixture
def broker(db: None) -> Iterator[DeadLetterBroker]:
    """It holds offsets 5 to 8 of the dead letters of billing."""
    with a_dead_letter_broker({offset: stored_letter(offset) for offset in range(5, 9)}) as broker:
        cluster = a_cluster()
        a_broker(cluster, address=broker.address)
        a_group(cluster)
        yield broker
        close_wires()
