"""Whole readings of real clusters that want signatures, or TLS."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, GroupTotal
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, Poll, PollSettings
from consumers.polling.registration import set_secret
from consumers.rocketmq.wire.codes import TlsOptions
from dashboard.demo.cluster import RocketMQ
from tests.certificates import Authority
from tests.consumers.polling.guarded_broker import CONFIG, create_user, fill

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

PollOf = Callable[..., Poll]
READ_ONLY = ["Topic:*", "Group:*"]


@pytest.fixture
def poll(tmp_path: Path) -> PollOf:
    def poll(namesrv: str, *, signed: tuple[str, str] | None = None, tls: dict[str, Any] | None = None) -> Poll:
        cluster = Cluster(name="guarded", namesrv=namesrv, created_at=timezone.now(), tls=tls)
        if signed:
            set_secret(cluster, *signed, site.SECRET_KEY)
        cluster.save()
        poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(100, 100), 5.0, Lake.at(str(tmp_path)), 0))
        try:
            return poller.poll(timezone.now())
        finally:
            poller.close()

    return poll


@pytest.fixture(scope="module")
def guarded(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its name server. Ten messages, of which `guarded-billing` has consumed four; a user for each case."""
    with RocketMQ(tmp_path_factory.mktemp("guarded"), rocketmq_jars, config=CONFIG) as cluster:
        address = cluster.brokers["broker-a"].address
        fill(address, "GuardedOrders", "guarded-billing", messages=10, consumed=4)
        create_user(address, "monitor", "right-secret", READ_ONLY)
        create_user(address, "topics-only", "right-secret", ["Topic:*"])
        yield cluster.namesrv


def test_a_user_who_may_get_and_list_reads_everything(guarded: str, poll: PollOf) -> None:
    offsets = poll(guarded, signed=("monitor", "right-secret")).offsets
    assert (offsets.error, [part.error for part in offsets.brokers]) == (None, [None])
    assert GroupTotal.objects.get(group__name="guarded-billing").lag_messages == 6
    group = ConsumerGroup.objects.get(name="guarded-billing")
    assert (group.online, group.members, group.membership_error) == (False, 0, None)


@pytest.mark.parametrize(
    ("signed", "sentence"),
    [
        (None, "username cannot be null. – it wants requests signed with an access key"),
        (("monitor", "wrong"), "check signature failed. – the secret key is not the one of this access key"),
        (("stranger", "right-secret"), "User:stranger is not found."),
        (("topics-only", "right-secret"), "has no permission to access Group:"),
    ],
)
def test_any_other_reading_is_unknown_with_a_clear_sentence(
    guarded: str, poll: PollOf, signed: tuple[str, str] | None, sentence: str
) -> None:
    row = poll(guarded, signed=signed).row
    assert (row.complete, row.queues) == (False, 0)
    assert sentence in row.brokers[0]["error"]
    assert "right-secret" not in str(row.brokers)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def shown(authority: Authority) -> dict[str, Any]:
    monitor = authority.issue("monitor")
    return {"certificate": str(monitor.certificate), "key": str(monitor.key)}


@pytest.fixture(scope="module")
def encrypted(
    authority: Authority, shown: dict[str, Any], rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The name server of a cluster where every server wants TLS, and a certificate of each client."""
    issued = authority.issue("rocketmq")
    flags = ["-Dtls.server.mode=enforcing", "-Dtls.test.mode.enable=false"]
    flags += [f"-Dtls.{side}.certPath={issued.certificate}" for side in ("server", "client")]
    flags += [f"-Dtls.{side}.keyPath={issued.key}" for side in ("server", "client")]
    flags += ["-Dtls.server.need.client.auth=require", "-Dtls.server.authClient=true"]
    flags += [f"-Dtls.server.trustCertPath={authority.certificate}"]
    options = TlsOptions(ca=str(authority.certificate), **shown)
    with RocketMQ(tmp_path_factory.mktemp("encrypted"), rocketmq_jars, flags=flags, tls=options) as cluster:
        yield cluster.namesrv


def tls(**options: Any) -> dict[str, Any]:
    return {"ca": None, "certificate": None, "key": None, "verify": True, **options}


def test_a_cluster_that_wants_tls_is_read_where_both_sides_trust_each_other(
    encrypted: str, poll: PollOf, authority: Authority, shown: dict[str, Any]
) -> None:
    assert poll(encrypted, tls=tls(ca=str(authority.certificate), **shown)).row.complete


def test_it_is_read_where_its_certificates_are_not_verified(
    encrypted: str, poll: PollOf, shown: dict[str, Any]
) -> None:
    assert poll(encrypted, tls=tls(verify=False, **shown)).row.complete


def test_without_tls_it_is_unknown_and_the_sentence_names_tls(encrypted: str, poll: PollOf) -> None:
    row = poll(encrypted).row
    assert not row.complete
    assert "a server that wants TLS does that too" in row.error


def test_without_a_certificate_of_ones_own_it_is_unknown_and_the_sentence_names_it(
    encrypted: str, poll: PollOf, authority: Authority
) -> None:
    row = poll(encrypted, tls=tls(ca=str(authority.certificate))).row
    assert not row.complete
    assert "certificate" in row.error.lower()


def test_another_authority_is_not_enough(encrypted: str, poll: PollOf, shown: dict[str, Any], tmp_path: Path) -> None:
    row = poll(encrypted, tls=tls(ca=str(Authority(tmp_path, "stranger").certificate), **shown)).row
    assert not row.complete
    assert "its TLS certificate was not accepted" in row.error
