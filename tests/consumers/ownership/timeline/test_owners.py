import pytest

from consumers.models import ConsumerGroup
from consumers.ownership.timeline import timeline, timeline_owners
from tests.store_rows import an_owner
from tests.world import NOW, a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.mark.parametrize(
    ("since", "gone", "named"), [(600, None, True), (9000, None, True), (9000, 4000, False), (9000, 3000, True)]
)
def test_who_held_a_queue_at_any_moment_of_the_range_is_named(
    group: ConsumerGroup, since: int, gone: int | None, named: bool
) -> None:
    ends = {} if gone is None else {"last_seen": ago(gone + 15), "gone_by": ago(gone)}
    an_owner(group, a_queue(group.cluster), seen_since=ago(since), **ends)
    assert timeline_owners(group, since=ago(3600), until=NOW) == (["c1"] if named else [])


def test_they_are_those_of_the_picture_in_its_order(group: ConsumerGroup) -> None:
    for number, (since, gone) in enumerate([(9000, 5000), (9000, 3601), (9000, 3600), (9000, 3585), (20, None)]):
        ends = {} if gone is None else {"last_seen": ago(gone + 15), "gone_by": ago(gone)}
        an_owner(
            group, a_queue(group.cluster, queue_id=number), client_id=f"c{9 - number}", seen_since=ago(since), **ends
        )
    drawn = timeline("prod", "billing", since=ago(3600), until=NOW)
    assert drawn is not None
    assert timeline_owners(group, since=ago(3600), until=NOW) == list(drawn.owners)
    assert "c9" not in drawn.owners
