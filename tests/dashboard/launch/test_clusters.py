from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management.base import CommandError

from consumers.logs.globs import find_logs, parse_log_globs
from consumers.models import Cluster
from consumers.stores.files.stored_file import begins_inside, find_files, parse_offset_files
from dashboard.launch.launcher import demo_files, forget_demo, user_has_clusters, watch

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
    watch("demo", "127.0.0.1:20001", **demo_files(home))
    globs = parse_offset_files(Cluster.objects.get().offset_files)
    found = find_files(globs, known=(), most=10, folders=settings.POLL_OFFSET_FOLDERS)
    assert found.brokers == {home / "demo" / broker: "broker-a", home / "demo" / member: None}


def test_the_site_lets_the_demos_files_be_read() -> None:
    globs = parse_offset_files(demo_files(site.CONSUMERSCOPE_HOME)["offset_files"])
    assert all(begins_inside(glob.pattern, site.POLL_OFFSET_FOLDERS) for glob in globs)


def test_a_home_that_no_glob_can_name_has_no_files() -> None:
    assert demo_files(Path("/a;b")) == {}


def test_the_logs_of_the_demos_clients_are_followed(tmp_path: Path) -> None:
    home = tmp_path / "a [home]"
    log = home / "demo/consuming/client.log"
    log.parent.mkdir(parents=True)
    log.touch()
    found = find_logs(parse_log_globs(demo_files(home)["client_logs"]), most=10)
    assert [one.path for one in found.paths] == [log]


def test_a_home_with_an_equals_sign_has_no_logs_as_it_would_name_a_zone() -> None:
    assert demo_files(Path("/a=b")).keys() == {"offset_files"}
