"""What a text finds among groups, topics, members and brokers."""

import pytest

from consumers.search import Hit, HitKind, search
from tests.world import NOW, a_broker, a_client, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> None:
    prod, staging = a_cluster("prod"), a_cluster("staging")
    a_broker(prod, "broker-a")
    billing, mail = a_group(prod, "billing"), a_group(prod, "mail")
    a_group(staging, "rebilling")
    queue = a_queue(prod, topic="Bills")
    a_snapshot(billing, queue, 1, 2)
    a_snapshot(mail, queue, 1, 2)
    a_client(billing, "10.0.0.7@3312")
    a_client(mail, "10.0.0.7@3312")
    a_client(mail, "10.0.0.8@1", address="10.0.0.8:50001", gone_by=NOW, last_seen=ago(60))


def names(text: str, **of: object) -> dict[str, list[str]]:
    return {kind.value: [hit.name for hit in hits] for kind, hits in search(text, **of).found.items() if hits}


@pytest.mark.usefixtures("site")
def test_every_kind_is_found_by_a_part_of_its_name() -> None:
    assert names("bil") == {"group": ["billing", "rebilling"], "topic": ["Bills"]}
    assert names("broker") == {"broker": ["broker-a"]}
    assert names("10.0.0") == {"client": ["10.0.0.7@3312", "10.0.0.8@1"]}


@pytest.mark.usefixtures("site")
def test_a_cluster_has_its_own_alone() -> None:
    assert names("bil", cluster="staging") == {"group": ["rebilling"]}


@pytest.mark.usefixtures("site")
def test_a_topic_tells_who_consumes_it() -> None:
    assert search("Bills").found[HitKind.TOPIC] == [Hit(HitKind.TOPIC, "Bills", "prod", ("billing", "mail"))]


@pytest.mark.usefixtures("site")
def test_a_member_of_several_groups_is_one_and_one_that_left_is_said_to_have() -> None:
    assert search("10.0.0").found[HitKind.CLIENT] == [
        Hit(HitKind.CLIENT, "10.0.0.7@3312", "prod", ("billing", "mail")),
        Hit(HitKind.CLIENT, "10.0.0.8@1", "prod", ("mail",), is_gone=True),
    ]


@pytest.mark.usefixtures("site")
def test_a_single_hit_is_known_as_such() -> None:
    assert search("rebill").only == Hit(HitKind.GROUP, "rebilling", "staging")
    assert search("bil").only is None


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("text", ["", "  ", "nothing of that name"])
def test_nothing_is_found_by_nothing(text: str) -> None:
    assert names(text) == {}


def test_a_whole_name_comes_first_and_more_than_is_shown_is_said() -> None:
    cluster = a_cluster()
    for name in ("a-mail", "mail-a", "mail", "mail-b"):
        a_group(cluster, name)
    found = search("mail", shown=3)
    assert [hit.name for hit in found.found[HitKind.GROUP]] == ["mail", "mail-a", "mail-b"]
    assert found.has_more == {HitKind.GROUP}


def test_members_of_many_groups_leave_none_out() -> None:
    cluster = a_cluster()
    groups = [a_group(cluster, f"group-{number:03}") for number in range(70)]
    clients = [f"10.0.0.{number}@1" for number in range(4)]
    for client_id in clients:
        for group in groups:
            a_client(group, client_id)
    assert [(hit.name, len(hit.groups)) for hit in search("10.0.0").found[HitKind.CLIENT]] == [
        (client_id, 70) for client_id in clients
    ]
    found = search("10.0.0", shown=3)
    assert [hit.name for hit in found.found[HitKind.CLIENT]] == clients[:3]
    assert found.has_more == {HitKind.CLIENT}
