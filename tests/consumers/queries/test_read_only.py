from typing import Any

import pytest

from consumers.models import Broker
from consumers.queries.read_only import marked_by, read_only_clusters, words_that_protect_nothing
from tests.world import a_broker, a_cluster

pytestmark = pytest.mark.django_db
SETTING = "CONSUMERSCOPE_READ_ONLY_CLUSTERS"


@pytest.mark.parametrize(
    ("named", "read_only"),
    [([], False), (["prod"], True), (["prod-b"], False), (["Prod"], False), (["prod-b", "prod"], True), (["*"], True)],
)
def test_a_cluster_is_read_only_by_its_exact_name_or_with_all(settings: Any, named: list[str], read_only: bool) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = named
    assert (marked_by("prod") is not None) is read_only


@pytest.mark.parametrize(
    "namesrv",
    ["ns-1:9876", "ns-2:9876", "ns-3:9876;ns-2:9876", "NS-1:9876", "ns-1.:9876"],
)
def test_the_name_servers_of_a_read_only_cluster_are_read_only_under_another_name(settings: Any, namesrv: str) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_cluster("prod", namesrv="ns-1:9876;ns-2:9876")
    a_cluster("prod-again", namesrv=namesrv)
    a_cluster("staging", namesrv="ns-1:9877;ns-11:9876")
    assert read_only_clusters() == {"prod": "prod", "prod-again": "prod"}
    assert (marked_by("prod-again") is not None, marked_by("staging")) == (True, None)


def test_a_broker_of_a_read_only_cluster_is_read_only_whichever_name_server_led_to_it(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_broker(a_cluster("prod", namesrv="ns-1:9876"))
    a_broker(a_cluster("prod-again", namesrv="10.0.0.1:9876"))
    Broker.objects.update(address="10.0.0.7:10911")
    assert marked_by("prod-again")


def test_what_is_protected_by_an_address_protects_by_its_others(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    for name, namesrv in (
        ("third", "ns-2:1;ns-3:1"),
        ("second", "ns-1:1;ns-2:1"),
        ("prod", "ns-1:1"),
        ("no", "ns-4:1"),
    ):
        a_cluster(name, namesrv=namesrv)
    assert read_only_clusters() == dict.fromkeys(("prod", "second", "third"), "prod")


@pytest.mark.parametrize("word", ["10.0.0.7:9876", "localhost:9876", "[::1]:9876"])
def test_the_setting_may_name_an_address(settings: Any, word: str) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = [word]
    a_cluster("prod", namesrv="10.0.0.7:9876;127.0.0.1:9876;[0:0:0:0:0:0:0:1]:9876")
    a_cluster("other", namesrv="10.0.0.8:9876")
    assert read_only_clusters() == {"prod": word}


def test_words_that_protect_nothing_are_told(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod", "pord", "ns-1:9876", "ns-9:9876", "*"]
    a_cluster("prod", namesrv="ns-1:9876")
    assert words_that_protect_nothing() == ["ns-9:9876", "pord"]


def test_without_the_setting_nothing_is_asked(settings: Any, django_assert_num_queries: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = []
    with django_assert_num_queries(0):
        assert (marked_by("prod"), read_only_clusters(), words_that_protect_nothing()) == (None, {}, [])
