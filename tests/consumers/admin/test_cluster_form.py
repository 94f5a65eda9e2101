"""The admin page of a cluster: the options of the command, and a secret that goes in and never out."""

import pytest
from django.conf import settings

from consumers.models import Cluster
from consumers.polling.registration import access_of
from consumers.rocketmq.wire.codes import Credentials
from tests.consumers.admin.staff import a_staff_client

pytestmark = pytest.mark.django_db

SIGNED = {"access_key": "monitor", "secret_key": "s3cret-key"}


@pytest.fixture
def client():
    return a_staff_client("admin")


def post(client, **values):
    """Adds the cluster, or changes it where it is known."""
    known = Cluster.objects.filter(name="prod").first()
    place = f"{known.pk}/change" if known else "add"
    return client.post(f"/admin/consumers/cluster/{place}/", {"name": "prod", "namesrv": "10.0.0.1:9876", **values})


def credentials():
    return access_of(Cluster.objects.get(name="prod"), settings.SECRET_KEY).credentials


def test_a_secret_goes_in_and_is_shown_nowhere(client):
    post(client, **SIGNED)
    assert credentials() == Credentials("monitor", "s3cret-key")
    cluster = Cluster.objects.get(name="prod")
    for page in ("", f"{cluster.pk}/change/", f"{cluster.pk}/history/"):
        shown = client.get(f"/admin/consumers/cluster/{page}").content.decode()
        assert "s3cret-key" not in shown
        assert cluster.sealed_secret not in shown


def test_an_empty_secret_keeps_the_one_that_is_stored(client):
    post(client, **SIGNED)
    post(client, access_key="monitor", proxy="10.0.0.7:8080")
    assert credentials() == Credentials("monitor", "s3cret-key")


def test_without_an_access_key_nothing_is_signed_and_the_secret_is_gone(client):
    post(client, **SIGNED)
    post(client, access_key="")
    assert (credentials(), Cluster.objects.get(name="prod").sealed_secret) == (None, None)


def test_tls_is_stored_as_the_command_stores_it(client):
    post(client, use_tls="on", tls_ca="/ca.pem", tls_certificate="/c.pem", tls_key="/k.pem")
    expected = {"ca": "/ca.pem", "certificate": "/c.pem", "key": "/k.pem", "verify": True}
    assert Cluster.objects.get(name="prod").tls == expected


def test_host_names_that_are_not_verified_are_listed_as_such_and_stay(client):
    any_host = {"use_tls": "on", "tls_ca": "/ca.pem", "tls_any_host": "on"}
    post(client, **any_host)
    assert "host names not verified" in client.get("/admin/consumers/cluster/").content.decode()
    page = client.get(f"/admin/consumers/cluster/{Cluster.objects.get().pk}/change/").content.decode()
    assert '<input type="checkbox" name="tls_any_host" aria-describedby="id_tls_any_host_helptext" ' in page
    assert 'id="id_tls_any_host" checked' in page


def test_certificates_that_are_not_verified_are_listed_as_such(client):
    post(client, use_tls="on", tls_skip_verify="on")
    assert "certificates not verified" in client.get("/admin/consumers/cluster/").content.decode()


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"access_key": "monitor"}, "needs its secret key"),
        ({"secret_key": "s3cret-key"}, "needs its access key"),
        ({"proxy": "10.0.0.7"}, "not of the form host:port"),
        ({"offset_files": "relative.json"}, "not an absolute path"),
        ({"tls_ca": "/ca.pem"}, "apply only with TLS"),
        ({"use_tls": "on", "tls_ca": "ca.pem"}, "as the poll worker sees it"),
        (
            {"use_tls": "on", "tls_ca": "/ca.pem", "tls_skip_verify": "on"},
            "without certificate verification: clear them",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_reason(client, values, complaint):
    answer = post(client, **values)
    assert complaint in answer.content.decode()
    assert not Cluster.objects.exists()


def test_the_form_and_its_errors_are_in_the_language_of_the_request(client):
    chinese = {"headers": {"Accept-Language": "zh-hans"}}
    page = client.get("/admin/consumers/cluster/add/", **chinese).text
    assert all(words in page for words in ("AccessKey", "不校验主机名", "以“;”分隔", "访问控制"))
    values = {
        "name": "a/b",
        "namesrv": "10.0.0.1",
        "offset_files": "/etc/offsets.json;relative.json",
        "tls_ca": "/ca.pem",
    }
    page = client.post("/admin/consumers/cluster/add/", values, **chinese).text
    for words in ("集群名称须为", "不是 host:port 形式", "relative.json 不是绝对路径", "请启用 TLS"):
        assert words in page


def test_what_a_cluster_is_registered_with_is_listed_in_the_language_of_the_request(client):
    post(client, use_tls="on", tls_skip_verify="on", proxy="10.0.0.7:8080", **SIGNED)
    page = client.get("/admin/consumers/cluster/", headers={"Accept-Language": "zh-hans"}).text
    assert "AccessKey monitor, TLS，不校验证书, Proxy 10.0.0.7:8080" in page


def test_the_help_of_thresholds_is_in_the_language_of_the_request():
    page = a_staff_client("operator").get(
        "/admin/consumers/groupthresholds/add/", headers={"Accept-Language": "zh-hans"}
    )
    assert "留空则使用 CONSUMERSCOPE_ALLOWANCE_SECONDS" in page.text
