"""What members are set to, where they differ, and what is no default."""

import pytest

from consumers.models import ConsumerGroup
from consumers.ownership.members import SettingValue, member_settings
from tests.world import NOW, a_client, a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


def member(group: ConsumerGroup, name: str, **settings: str) -> None:
    a_client(group, name, settings=settings)


def test_what_differs_comes_first_and_then_what_is_no_default(group: ConsumerGroup) -> None:
    member(group, "a", pullBatchSize="32", consumeThreadMax="64", maxReconsumeTimes="3")
    member(group, "b", pullBatchSize="32", consumeThreadMax="64", maxReconsumeTimes="-1")
    found = member_settings(group).rows
    assert [(row.name, row.differs, row.is_default) for row in found] == [
        ("maxReconsumeTimes", True, False),
        ("consumeThreadMax", False, False),
        ("pullBatchSize", False, True),
    ]


def test_each_value_has_the_members_that_have_it_and_most_come_first(group: ConsumerGroup) -> None:
    member(group, "a", pullBatchSize="8")
    member(group, "b", pullBatchSize="32")
    member(group, "c", pullBatchSize="32")
    [row] = member_settings(group).rows
    assert row.values == (SettingValue("32", ("b", "c"), True), SettingValue("8", ("a",), False))


def test_a_member_that_does_not_report_a_setting_differs_from_those_that_do(group: ConsumerGroup) -> None:
    member(group, "a", pullBatchSize="32")
    member(group, "b", consumeTimeout="15")
    found = {row.name: row for row in member_settings(group).rows}
    assert found["pullBatchSize"].values == (SettingValue("32", ("a",), True), SettingValue(None, ("b",), None))


def test_of_a_setting_without_a_known_default_it_is_not_known_whether_it_is_one(group: ConsumerGroup) -> None:
    member(group, "a", offsetStore="x.Store")
    [row] = member_settings(group).rows
    assert (row.default, row.values[0].is_default, row.is_default) == (None, None, False)


def test_a_member_that_has_not_reported_is_named_with_the_reason_and_counts_for_nothing(group: ConsumerGroup) -> None:
    member(group, "a", pullBatchSize="32")
    a_client(group, "b", settings=None, running_info_error="it did not answer")
    found = member_settings(group)
    assert (found.reported, found.silent) == (1, (("b", "it did not answer"),))
    assert not found.rows[0].differs


def test_a_member_that_has_left_is_left_out(group: ConsumerGroup) -> None:
    a_client(group, "a", settings={"pullBatchSize": "8"}, gone_by=NOW)
    assert member_settings(group).rows == ()
