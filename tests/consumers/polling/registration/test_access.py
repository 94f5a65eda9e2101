"""What connections to a cluster are made with, and the sentences where they cannot be made."""

import pytest

from consumers.models import Cluster
from consumers.polling.registration import (
    OF_CHANNELS,
    OF_CLUSTERS,
    NoAccess,
    SecretNotReadable,
    access_of,
    seal,
    unseal,
)
from consumers.rocketmq.wire.codes import TlsOptions
from consumers.vocabulary.reasons import PollProblem
from consumers.words.reasons import stored_words
from tests.readings import T0

SITE_KEY = "the key of this site"


def a_cluster(**fields):
    return Cluster(name="prod", namesrv="10.0.0.1:9876", created_at=T0, **fields)


def tls(**options):
    return {"ca": None, "certificate": None, "key": None, "verify": True, **options}


@pytest.mark.parametrize("secret", ["s", "sécrêt 密钥", "x" * 500])
def test_a_secret_comes_back_under_the_same_site_key(secret):
    assert unseal(seal(secret, SITE_KEY), SITE_KEY) == secret


def test_a_secret_does_not_come_back_under_another_site_key():
    with pytest.raises(SecretNotReadable):
        unseal(seal("s3cret", SITE_KEY), "another key")


def test_a_secret_does_not_come_back_for_another_purpose():
    with pytest.raises(SecretNotReadable):
        unseal(seal("s3cret", SITE_KEY, OF_CLUSTERS), SITE_KEY, OF_CHANNELS)


@pytest.mark.parametrize("damaged", ["", "nonsense", "gAAAAA==", "é"])
def test_a_damaged_secret_is_not_readable(damaged):
    with pytest.raises(SecretNotReadable):
        unseal(damaged, SITE_KEY)


def test_a_plain_cluster_needs_nothing():
    access = access_of(a_cluster(), SITE_KEY)
    assert (access.credentials, access.context()) == (None, None)


def test_another_site_key_is_one_sentence_that_says_what_to_do():
    sealed = seal("s3cret", SITE_KEY)
    with pytest.raises(NoAccess) as raised:
        access_of(a_cluster(access_key="monitor", sealed_secret=sealed), "another key")
    said = stored_words(str(raised.value))
    assert "CONSUMERSCOPE_SECRET_KEY: give it again, manage.py cluster add prod" in said


def test_an_access_key_without_its_secret_never_connects_unsigned():
    with pytest.raises(NoAccess, match=PollProblem.NO_SECRET_KEY):
        access_of(a_cluster(access_key="monitor"), SITE_KEY)


@pytest.mark.parametrize("option", ["ca", "certificate"])
@pytest.mark.parametrize(("content", "cause"), [(None, "No such file"), ("nonsense", "no valid PEM")])
def test_a_file_that_does_not_serve_is_named_with_its_cause(tmp_path, option, content, cause):
    path = tmp_path / "file.pem"
    if content is not None:
        path.write_text(content)
    access = access_of(a_cluster(tls=tls(**{option: str(path)})), SITE_KEY)
    with pytest.raises(NoAccess, match=f"{path} cannot be used .*{cause}"):
        access.context()


def test_certificates_and_host_names_are_verified_unless_it_was_said_otherwise():
    strict = access_of(a_cluster(tls=tls()), SITE_KEY).context()
    assert (strict.check_hostname, strict.verify_mode.name) == (True, "CERT_REQUIRED")
    loose = access_of(a_cluster(tls=tls(verify=False)), SITE_KEY).context()
    assert (loose.check_hostname, loose.verify_mode.name) == (False, "CERT_NONE")


def test_a_certificate_that_was_renewed_at_its_place_is_another_access(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_text("old")
    cluster = a_cluster(tls=tls(ca=str(path)))
    before = access_of(cluster, SITE_KEY)
    assert (before.tls, access_of(cluster, SITE_KEY)) == (TlsOptions(ca=str(path)), before)
    path.unlink()
    assert access_of(cluster, SITE_KEY) != before


def test_a_secret_is_in_no_representation():
    access = access_of(a_cluster(access_key="monitor", sealed_secret=seal("s3cret", SITE_KEY)), SITE_KEY)
    assert "s3cret" not in repr(access)
