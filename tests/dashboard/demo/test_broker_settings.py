"""What a broker's properties file says."""

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.demo.server import BrokerPlace, broker_properties

PLACE = BrokerPlace(name="broker-b", folder=Path("/x/broker-b"), port=21_000)


def properties(place: BrokerPlace = PLACE, **overrides: str) -> dict[str, str]:
    text = broker_properties(place, "127.0.0.1:9876", overrides)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_broker_is_found_and_listens_on_the_loopback_only() -> None:
    written = properties()
    assert (written["bindAddress"], written["brokerIP1"]) == ("127.0.0.1", "127.0.0.1")
    assert (written["listenPort"], written["haListenPort"]) == ("21000", "21001")
    assert PLACE.address == "127.0.0.1:21000"


@pytest.mark.parametrize(("broker_id", "role"), [(0, "ASYNC_MASTER"), (1, "SLAVE")])
def test_a_number_above_0_makes_a_slave_which_finds_its_master_on_the_loopback(broker_id: int, role: str) -> None:
    written = properties(replace(PLACE, broker_id=broker_id))
    assert (written["brokerId"], written["brokerRole"], written["brokerIP2"]) == (str(broker_id), role, "127.0.0.1")


def test_everything_that_a_broker_stores_is_in_its_own_folder() -> None:
    written = properties()
    assert written["storePathRootDir"] == str(PLACE.store) == "/x/broker-b/store"
    assert written["storePathCommitLog"] == "/x/broker-b/store/commitlog"


def test_a_setting_of_the_caller_wins() -> None:
    assert properties(timerWheelEnable="true", messageDelayLevel="1s 2s")["timerWheelEnable"] == "true"
    assert properties(messageDelayLevel="1s 2s")["messageDelayLevel"] == "1s 2s"
