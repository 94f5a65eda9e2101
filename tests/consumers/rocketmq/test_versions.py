import pytest

from consumers.rocketmq.versions import mq_version_name, mq_version_ordinal


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
def test_it_names_an_ordinal_and_finds_it_by_its_name(ordinal: int, name: str) -> None:
    assert mq_version_name(ordinal) == name
    assert mq_version_ordinal(name) == ordinal


@pytest.mark.parametrize("ordinal", [-1, 612, 32767])
def test_an_ordinal_of_no_release_has_no_name(ordinal: int) -> None:
    assert mq_version_name(ordinal) is None


@pytest.mark.parametrize("name", ["", "5.4.0", "V6_0_0", "V3_3_0", "HIGHER_VERSION"])
def test_a_name_of_no_release_has_no_ordinal(name: str) -> None:
    assert mq_version_ordinal(name) is None
