"""`manage.py cluster add` with signatures, TLS, offset files and proxies."""

from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from consumers.models import Cluster
from consumers.polling.registration import access_of
from consumers.rocketmq.wire.codes import Credentials, TlsOptions

pytestmark = pytest.mark.django_db


def cluster(*args):
    out = StringIO()
    call_command("cluster", *args, stdout=out)
    return out.getvalue()


def add(*args):
    return cluster("add", "prod", *args)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setenv("MONITOR_SECRET", "s3cret-key")
    add("--namesrv", "10.0.0.1:9876")


def stored():
    return Cluster.objects.get(name="prod")


def test_a_secret_is_read_from_the_environment_and_signs_requests():
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET")
    assert access_of(stored(), settings.SECRET_KEY).credentials == Credentials("monitor", "s3cret-key")


def test_no_secret_is_stored_or_shown_as_it_is():
    said = add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET")
    row = Cluster.objects.values().get()
    assert "s3cret-key" not in said + cluster("list") + str(row)
    assert cluster("list") == "prod\t10.0.0.1:9876\taccess key monitor\n"


def test_the_same_secret_is_sealed_in_another_way_each_time():
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET")
    first = stored().sealed_secret
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET")
    assert stored().sealed_secret != first


def test_a_secret_may_be_replaced_alone(monkeypatch):
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET")
    monkeypatch.setenv("MONITOR_SECRET", "another")
    add("--secret-key-env", "MONITOR_SECRET")
    assert access_of(stored(), settings.SECRET_KEY).credentials == Credentials("monitor", "another")


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--access-key", "monitor"], "--access-key: It needs --secret-key-env"),
        (["--secret-key-env", "MONITOR_SECRET"], "--secret-key-env: It needs --access-key"),
        (["--access-key", "m", "--secret-key-env", "NOT_SET"], "NOT_SET is not set"),
        (["--namesrv", "nowhere"], "--namesrv: .*host:port"),
        (["--proxy", "10.0.0.7"], "--proxy: .*host:port"),
        (["--offset-files", "relative.json"], "--offset-files: .*absolute"),
        (
            ["--offset-files", "/data/admin_password"],
            "--offset-files: /data/admin_password does not name an offset file",
        ),
        (["--offset-files", "/etc/offsets.json"], "--offset-files: .* is outside of the folders"),
        (["--offset-files", "/data/../etc/offsets.json"], "--offset-files: .* is outside of the folders"),
        (["--offset-files", "/*/offsets.json"], "--offset-files: .* is outside of the folders"),
        (["--client-logs", "relative.log"], "--client-logs: .*absolute"),
        (["--broker-logs", "Mars/Olympus=/logs/broker.log"], "--broker-logs: .*no time zone"),
        (["--tls-ca", "ca.pem"], "--tls-ca: Name the file from '/'"),
        (["--tls-key", "/key.pem"], "--tls-key: .*certificate"),
        (["--tls-any-host"], "--tls-any-host: It needs your own authorities"),
        (["--tls-ca", "/ca.pem", "--tls-skip-verify"], "--tls-ca: .*without certificate verification"),
    ],
)
def test_it_refuses_what_makes_no_sense_and_changes_nothing(args, complaint):
    before = Cluster.objects.values().get()
    with pytest.raises(CommandError, match=complaint):
        add(*args)
    assert Cluster.objects.values().get() == before


@pytest.mark.parametrize(
    ("args", "tls"),
    [
        (["--tls"], TlsOptions()),
        (["--tls-ca", "/ca.pem"], TlsOptions(ca="/ca.pem")),
        (["--tls-certificate", "/c.pem", "--tls-key", "/k.pem"], TlsOptions(certificate="/c.pem", key="/k.pem")),
        (["--tls-skip-verify"], TlsOptions(verify=False)),
        (["--tls-ca", "/ca.pem", "--tls-any-host"], TlsOptions(ca="/ca.pem", any_host=True)),
    ],
)
def test_any_option_of_tls_means_tls_and_certificates_are_verified_unless_said_otherwise(args, tls):
    add(*args)
    assert TlsOptions(**stored().tls) == tls


def test_what_is_not_named_stays():
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET", "--tls-ca", "/ca.pem")
    add(
        "--offset-files", "broker-a=/data/a/consumerOffset.json; /data/b/*.json", "--proxy", "10.0.0.7:8080; [::1]:8080"
    )
    add("--tls-certificate", "/both.pem")
    row = stored()
    assert (row.namesrv, row.access_key, row.proxies) == ("10.0.0.1:9876", "monitor", ["10.0.0.7:8080", "[::1]:8080"])
    assert row.offset_files == "broker-a=/data/a/consumerOffset.json;/data/b/*.json"
    assert TlsOptions(**row.tls) == TlsOptions(ca="/ca.pem", certificate="/both.pem")


@pytest.mark.parametrize(
    ("option", "field", "left"),
    [
        ("acl", "access_key", None),
        ("acl", "sealed_secret", None),
        ("tls", "tls", None),
        ("tls-ca", "tls", {"ca": None, "certificate": "/c.pem", "key": "/k.pem", "verify": True}),
        ("tls-certificate", "tls", {"ca": "/ca.pem", "certificate": None, "key": None, "verify": True}),
        ("offset-files", "offset_files", ""),
        ("client-logs", "client_logs", ""),
        ("broker-logs", "broker_logs", ""),
        ("proxy", "proxy", ""),
    ],
)
def test_an_option_is_taken_back(option, field, left):
    add("--access-key", "monitor", "--secret-key-env", "MONITOR_SECRET", "--offset-files", "/data/offsets.json")
    add("--tls-ca", "/ca.pem", "--tls-certificate", "/c.pem", "--tls-key", "/k.pem", "--proxy", "10.0.0.7:8080")
    add("--client-logs", "/logs/rocketmq_client.log", "--broker-logs", "UTC=/logs/broker.log")
    add("--without", option)
    assert getattr(stored(), field) == left


def test_logs_are_shown_with_their_zones():
    add("--client-logs", " /logs/*/rocketmq_client.log ; Asia/Shanghai=/old/*.log", "--broker-logs", "/b/broker.log")
    assert cluster("list") == (
        "prod\t10.0.0.1:9876\tclient logs /logs/*/rocketmq_client.log;Asia/Shanghai=/old/*.log, "
        "broker logs /b/broker.log\n"
    )


def test_host_names_are_verified_again():
    add("--tls-ca", "/ca.pem", "--tls-any-host")
    assert "host names not verified" in cluster("list")
    add("--without", "tls-any-host")
    assert cluster("list") == "prod\t10.0.0.1:9876\tTLS\n"


def test_certificates_are_verified_again():
    add("--tls-skip-verify")
    assert "certificates not verified" in cluster("list")
    add("--without", "tls-skip-verify")
    assert cluster("list") == "prod\t10.0.0.1:9876\tTLS\n"


def test_a_cluster_that_is_not_known_needs_name_servers():
    with pytest.raises(CommandError, match="--namesrv: At least one"):
        cluster("add", "other", "--tls")
