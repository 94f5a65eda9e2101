import base64
import hashlib
import hmac

import pytest

from consumers.rocketmq.wire.codes import Credentials


def signature(secret: str, content: bytes) -> str:
    return base64.b64encode(hmac.new(secret.encode(), content, hashlib.sha1).digest()).decode()


@pytest.mark.parametrize(
    ("ext_fields", "body", "content"),
    [
        pytest.param({}, b"", b"monitor", id="no field"),
        pytest.param({"topic": "T", "consumerGroup": "g"}, b"", b"monitorgT", id="values in the order of their keys"),
        pytest.param({"topic": "T"}, b"\x00body", b"monitorT\x00body", id="a body"),
        pytest.param({"topic": "Größe"}, b"", "monitorGröße".encode(), id="a value that is not ASCII"),
        pytest.param({"Signature": "old", "a": "1"}, b"", b"monitor1", id="an earlier signature does not count"),
    ],
)
def test_it_signs_the_values_and_the_body(ext_fields: dict[str, str], body: bytes, content: bytes) -> None:
    signed = Credentials("monitor", "secret").signed(ext_fields, body)
    assert signed == {**ext_fields, "AccessKey": "monitor", "Signature": signature("secret", content)}


def test_it_signs_the_token_of_a_session_too() -> None:
    signed = Credentials("monitor", "secret", "token").signed({"topic": "T"}, b"")
    assert (signed["SecurityToken"], signed["Signature"]) == ("token", signature("secret", b"monitortokenT"))


def test_it_changes_no_field_of_the_caller() -> None:
    fields = {"topic": "T"}
    Credentials("monitor", "secret").signed(fields, b"")
    assert fields == {"topic": "T"}


def test_it_shows_no_secret() -> None:
    assert repr(Credentials("monitor", "s3cret", "t0ken")) == "Credentials(access_key='monitor')"
