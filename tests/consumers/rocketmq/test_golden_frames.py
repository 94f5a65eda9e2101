"""Frames as RocketMQ 5.4.0 sends them, with either kind of header."""

import pytest

from consumers.rocketmq.wire.codes import ResponseCode
from consumers.rocketmq.wire.frames import FrameReader
from tests.consumers.rocketmq.golden import FOLDER, golden

FRAMES = sorted(path.stem for path in FOLDER.glob("*.frame"))


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_is_an_answer_of_5_4_0_to_the_first_request(name: str) -> None:
    command = golden(name)
    assert (command.is_response, command.opaque, command.version, command.language) == (True, 1, 493, "JAVA")


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_comes_whole_byte_by_byte_too(name: str) -> None:
    frame, reader = (FOLDER / f"{name}.frame").read_bytes(), FrameReader()
    for index in range(len(frame)):
        assert reader.next_command() is None
        reader.receive(frame[index : index + 1])
    assert reader.next_command() == golden(name)


@pytest.mark.parametrize("kind", ["", "binary_"])
@pytest.mark.parametrize(
    ("name", "code", "remark"),
    [
        ("cluster_106", ResponseCode.SUCCESS, None),
        ("connections_offline_203", ResponseCode.CONSUMER_NOT_ONLINE, "the consumer group[nobody] not online"),
        ("unsupported_9999", ResponseCode.REQUEST_CODE_NOT_SUPPORTED, " request type 9999 not supported"),
    ],
)
def test_both_headers_carry_code_and_remark(kind: str, name: str, code: int, remark: str | None) -> None:
    command = golden(kind + name)
    assert (command.code, command.remark) == (code, remark)


@pytest.mark.parametrize(
    ("name", "ext_fields"),
    [
        ("max_offset_30", {"offset": "11"}),
        ("binary_max_offset_30", {"offset": "0"}),
        ("topics_21", {"totalTopicNum": "20"}),
        ("binary_topics_21", {"totalTopicNum": "14"}),
    ],
)
def test_both_headers_carry_fields(name: str, ext_fields: dict[str, str]) -> None:
    assert golden(name).ext_fields == ext_fields


def test_a_success_may_carry_a_remark_that_means_nothing() -> None:
    answer = golden("running_info_307")
    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, "not set any response code")
