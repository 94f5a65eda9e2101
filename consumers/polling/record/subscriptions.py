"""Who subscribes to what, and how, from when to when: by the members' own words.

What a broker tells of a group is what the member that registered last subscribes to (RocketMQ 5.4.0,
ConsumerGroupInfo.updateSubscription), so members that differ are told by themselves alone.
"""

from collections.abc import Mapping

from consumers.models import ClientSubscription
from consumers.polling.reading import MembersReading

from .ids import BATCH
from .let_go import LetGo
from .spoken import Spoken, by_topic
from .stamps import stamp

Subscribed = tuple[int, str, str]  # group id, client id, topic
How = tuple[str, str | None]  # expression and its type


def record_subscriptions(groups: Mapping[str, int], reading: MembersReading, spoken: Spoken) -> None:
    """`groups`: the ids of those of which anything was learned."""
    now = reading.taken_at
    present = ClientSubscription.objects.filter(group__in=groups.values(), gone_by=None)
    rows = present.values_list("group_id", "client_id", "topic", "expression", "expression_type", "pk")
    known: dict[Subscribed, tuple[How, int]] = {row[:3]: (row[3:5], row[5]) for row in rows}
    told = _told(groups, reading)
    let_go = LetGo.of(groups, reading, told.keys())
    said = {(*key, topic): how for key, topics in told.items() for topic, how in topics.items()}
    going_on = {
        key for key, how in said.items() if key in known and known[key][0] == how and key[:2] not in spoken.interrupted
    }
    ended = [pk for key, (_, pk) in known.items() if key not in going_on and let_go.says(key[:2])]
    stamp(ClientSubscription.objects.all(), ended, gone_by=now)
    begun = [
        ClientSubscription(
            group_id=group,
            client_id=client_id,
            topic=topic,
            expression=expression,
            expression_type=expression_type,
            seen_since=now,
            last_seen=now,
        )
        for (group, client_id, topic), (expression, expression_type) in sorted(said.items(), key=lambda item: item[0])
        if (group, client_id, topic) not in going_on
    ]
    ClientSubscription.objects.bulk_create(begun, batch_size=BATCH)
    stamp(ClientSubscription.objects.all(), [known[key][1] for key in going_on], last_seen=now)


def _told(groups: Mapping[str, int], reading: MembersReading) -> dict[tuple[int, str], dict[str, How]]:
    """By client, of those that said it."""
    told: dict[tuple[int, str], dict[str, How]] = {}
    for client in reading.clients:
        if client.error is None and client.group in groups:
            topics = by_topic(client.group, client.subscriptions)
            if topics is not None:
                told[groups[client.group], client.client_id] = topics
    return told
