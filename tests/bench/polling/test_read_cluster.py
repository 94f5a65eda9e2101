"""What the reading bench moves before a reading."""

import random

from tests.bench.polling.populate import Size
from tests.bench.polling.read_cluster import Plan, one_in_ten

SIZE = Size(topics=20, queues=8, groups=50, topics_per_group=4)
PLAN = Plan("127.0.0.1:9876", {"127.0.0.1:10911": 1}, SIZE, messages=8, still=1, moving=1)


def test_about_one_queue_in_ten_moves_to_an_offset_that_the_broker_has() -> None:
    commits = one_in_ten(PLAN, random.Random(1))
    assert 0.07 < len(commits) / (50 * 4 * 8) < 0.13
    assert len({commit[:3] for commit in commits}) == len(commits)
    for group, topic, queue, offset in commits:
        assert topic in SIZE.topics_of(int(group.rsplit("-", 1)[1]))
        assert 0 <= queue < 8
        assert 1 <= offset <= 8
