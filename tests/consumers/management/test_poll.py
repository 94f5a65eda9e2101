"""`manage.py poll` where nothing answers."""

import json
import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from consumers.clock.watch import this_machine
from consumers.models import Cluster, MachineClock, Reading

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_lake(settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


@pytest.fixture
def refused():
    """The address of a port on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def test_it_says_how_to_register_a_cluster_where_there_is_none():
    with pytest.raises(CommandError, match=r"manage\.py cluster add"):
        call_command("poll")


def test_it_names_a_cluster_that_it_does_not_know():
    with pytest.raises(CommandError, match="no cluster 'prod'"):
        call_command("poll", "--cluster", "prod")


def test_it_ends_with_1_and_one_sentence_when_nothing_was_read(refused):
    Cluster.objects.create(name="prod", namesrv=refused, created_at=timezone.now())
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("poll", stdout=out)
    assert ended.value.code == 1
    assert out.getvalue().count("\n") == 1
    assert refused in out.getvalue()


def test_the_clock_that_it_goes_by_is_watched(refused):
    Cluster.objects.create(name="prod", namesrv=refused, created_at=timezone.now())
    with pytest.raises(SystemExit):
        call_command("poll", stdout=StringIO())
    assert MachineClock.objects.get().boot == this_machine().boot


def test_its_json_says_why_nothing_was_read(refused):
    Cluster.objects.create(name="prod", namesrv=refused, created_at=timezone.now())
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("poll", "--json", stdout=out)
    line = json.loads(out.getvalue())
    assert (line["cluster"], line["complete"], line["queues"], line["brokers"]) == ("prod", False, 0, [])
    assert refused in line["error"]


def test_a_reading_of_nothing_is_recorded(refused):
    Cluster.objects.create(name="prod", namesrv=refused, created_at=timezone.now())
    with pytest.raises(SystemExit):
        call_command("poll", stdout=StringIO())
    assert refused in Reading.objects.get().error
