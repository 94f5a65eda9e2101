from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management.base import CommandError

from consumers.models import Cluster
from consumers.stores.files.disk import begins_inside, find_files
from consumers.stores.files.stored_file import parse_offset_files
from dashboard.launch.launcher import demo_offset_files, forget_demo, user_has_clusters, watch

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


def test_the_demos_files_are_watched_beside_it(tmp_path: Path, settings: Any) -> None:
    home = tmp_path / "a [home]"
    settings.POLL_OFFSET_FOLDERS = [str(home / "demo")]
    broker, member = "broker-a/store/config/consumerOffset.json", "rocketmq_offsets/127.0.0.1@board/board/offsets.json"
    for name in (broker, member):
        (home / "demo" / name).parent.mkdir(parents=True)
        (home / "demo" / name).touch()
    watch("demo", "127.0.0.1:20001", demo_offset_files(home))
    globs = parse_offset_files(Cluster.objects.get().offset_files)
    found = find_files(globs, known=(), most=10, folders=settings.POLL_OFFSET_FOLDERS)
    assert found.brokers == {home / "demo" / broker: "broker-a", home / "demo" / member: None}


def test_the_site_lets_the_demos_files_be_read() -> None:
    globs = parse_offset_files(str(demo_offset_files(site.CONSUMERSCOPE_HOME)))
    assert all(begins_inside(glob.pattern, site.POLL_OFFSET_FOLDERS) for glob in globs)


def test_a_home_that_no_glob_can_name_has_no_offset_files() -> None:
    assert demo_offset_files(Path("/a;b")) is None
