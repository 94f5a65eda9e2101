import pytest
from django.core.management.base import CommandError

from consumers.models import Cluster
from dashboard.launch.clusters import forget_demo, user_has_clusters, watch

pytestmark = pytest.mark.django_db


def test_it_follows_the_demo_to_its_port() -> None:
    watch("demo", "127.0.0.1:20001")
    watch("demo", "127.0.0.1:20002")
    assert [cluster.namesrv for cluster in Cluster.objects.filter(name="demo")] == ["127.0.0.1:20002"]


@pytest.mark.parametrize(("name", "own"), [("demo", False), ("prod", True)])
def test_it_tells_the_demo_from_a_users_own_cluster(name: str, own: bool) -> None:
    watch(name, "127.0.0.1:9876")
    assert user_has_clusters() is own


def test_it_says_what_is_wrong_with_an_address() -> None:
    with pytest.raises(CommandError, match="--namesrv"):
        watch("default", "127.0.0.1")


def test_it_forgets_only_the_demo() -> None:
    watch("demo", "127.0.0.1:20001")
    watch("prod", "127.0.0.1:9876")
    assert (forget_demo(), forget_demo()) == (True, False)
    assert [cluster.name for cluster in Cluster.objects.all()] == ["prod"]
