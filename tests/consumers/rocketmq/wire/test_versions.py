import pytest

from consumers.rocketmq.wire.codes import mq_version_name


@pytest.mark.parametrize(
    ("ordinal", "name"),
    [
        (0, "V3_0_0_SNAPSHOT"),
        (15, "V3_0_0_FINAL"),
        (17, "V3_0_1"),
        (401, "V4_9_4"),
        (407, "V4_9_7"),
        (413, "V5_0_0"),
        (433, "V5_1_0"),
        (453, "V5_2_0"),
        (473, "V5_3_0"),
        (477, "V5_3_2"),
        (479, "V5_3_3"),
        (492, "V5_4_0_SNAPSHOT"),
        (493, "V5_4_0"),
        (611, "V5_9_9"),
    ],
)
def test_it_names_an_ordinal(ordinal: int, name: str) -> None:
    assert mq_version_name(ordinal) == name


@pytest.mark.parametrize("ordinal", [-1, 612, 32767])
def test_an_ordinal_of_no_release_has_no_name(ordinal: int) -> None:
    assert mq_version_name(ordinal) is None
