import pytest

from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    GoAway,
    NameServersFailed,
    RemoteProtocolError,
    RocketMQError,
    Unreachable,
    refused,
)


def test_an_error_begins_with_the_address_it_is_about() -> None:
    assert str(Unreachable("cannot connect", address="b:1")) == "b:1: cannot connect"
    assert str(RemoteProtocolError("a bad frame")) == "a bad frame"


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (
            refused(16, "no permission for g", 208, address="b:1"),
            "b:1: GET_CONSUME_STATS (208) was refused with NO_PERMISSION (16): no permission for g",
        ),
        (
            refused(16, "check signature failed.", 43),
            "GET_ALL_CONSUMER_OFFSET (43) was refused with NO_PERMISSION (16): check signature failed."
            " – the secret key is not the one of this access key",
        ),
        (refused(17, None, 202), "GET_TOPIC_STATS_INFO (202) was refused with TOPIC_NOT_EXIST (17)"),
        (refused(4711, " ", 9999), "request 9999 was refused with code 4711"),
        (
            refused(1, "java.lang.NullPointerException\n\tat org.apache.Foo", 203),
            "GET_CONSUMER_CONNECTION_LIST (203) was refused with SYSTEM_ERROR (1): java.lang.NullPointerException",
        ),
    ],
)
def test_a_refusal_is_one_sentence(refusal: BrokerRefused, sentence: str) -> None:
    assert str(refusal) == sentence


def test_a_refusal_keeps_what_the_broker_said() -> None:
    refusal = refused(1, "first\nsecond", 203, address="b:1")
    assert (refusal.code, refusal.remark, refusal.request_code) == (1, "first\nsecond", 203)


@pytest.mark.parametrize(("code", "kind"), [(1500, GoAway), (1, BrokerRefused)])
def test_go_away_is_a_refusal_of_its_own(code: int, kind: type[BrokerRefused]) -> None:
    assert type(refused(code, None, 43)) is kind


def test_the_failure_of_all_name_servers_names_each() -> None:
    failures: list[RocketMQError] = [Unreachable("cannot connect", address="a:1"), Unreachable("closed", address="b:1")]
    assert str(NameServersFailed(failures)) == "no name server answered: a:1: cannot connect; b:1: closed"
