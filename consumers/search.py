"""What a text is part of the name of: groups, topics, members and brokers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Case, IntegerField, Min, Q, QuerySet, Value, When

from consumers.models import Broker, Client, ConsumerGroup, GroupKind, QueueSnapshot, Topic, TopicKind
from consumers.vocabulary.states import MASTER

# Of each kind, so many are shown.
SHOWN = 20


class HitKind(StrEnum):
    GROUP = "group"
    TOPIC = "topic"
    CLIENT = "client"
    BROKER = "broker"


@dataclass(frozen=True)
class Hit:
    """`groups`: those that consume the topic, or that the member is in. `is_gone`: no broker lists the member now."""

    kind: HitKind
    name: str
    cluster: str
    groups: tuple[str, ...] = ()
    is_gone: bool = False


@dataclass(frozen=True)
class Hits:
    """`has_more`: there are more of that kind than are shown."""

    found: Mapping[HitKind, Sequence[Hit]]
    has_more: frozenset[HitKind] = frozenset()

    @property
    def only(self) -> Hit | None:
        """The one hit; null where there is none, or several."""
        every = [hit for hits in self.found.values() for hit in hits]
        return every[0] if len(every) == 1 else None


def search(text: str, cluster: str | None = None, shown: int = SHOWN) -> Hits:
    """Whole names first, then those that begin with it. No hit for an empty text. Six queries."""
    text = text.strip()
    if not text:
        return Hits(dict.fromkeys(HitKind, ()))
    rows = {
        HitKind.GROUP: _named(_of(ConsumerGroup.objects.filter(kind=GroupKind.USER), cluster), text, shown),
        HitKind.TOPIC: _named(_of(Topic.objects.filter(kind=TopicKind.NORMAL), cluster), text, shown),
        HitKind.BROKER: _named(_of(Broker.objects.filter(broker_id=MASTER), cluster), text, shown),
    }
    topics = rows[HitKind.TOPIC][:shown]
    consumed = _groups_of(topics)
    found: dict[HitKind, Sequence[Hit]] = {
        HitKind.GROUP: _hits(HitKind.GROUP, rows[HitKind.GROUP][:shown]),
        HitKind.TOPIC: [
            Hit(HitKind.TOPIC, row.name, row.cluster.name, tuple(consumed.get(row.pk, ()))) for row in topics
        ],
        HitKind.CLIENT: _clients(text, cluster, shown),
        HitKind.BROKER: _hits(HitKind.BROKER, rows[HitKind.BROKER][:shown]),
    }
    more = {kind for kind, all_rows in rows.items() if len(all_rows) > shown}
    if len(found[HitKind.CLIENT]) > shown:
        more.add(HitKind.CLIENT)
        found[HitKind.CLIENT] = found[HitKind.CLIENT][:shown]
    return Hits(found, frozenset(more))


def _of(rows: QuerySet, cluster: str | None) -> QuerySet:
    rows = rows.select_related("cluster")
    return rows if cluster is None else rows.filter(cluster__name=cluster)


def _named(rows: QuerySet, text: str, shown: int) -> list:
    """One more than is shown, which tells that there are more."""
    order = Case(
        When(name__iexact=text, then=Value(0)),
        When(name__istartswith=text, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return list(rows.filter(name__icontains=text).order_by(order, "name", "pk")[: shown + 1])


def _hits(kind: HitKind, rows: Iterable) -> list[Hit]:
    return [Hit(kind, row.name, row.cluster.name) for row in rows]


def _groups_of(topics: Sequence[Topic]) -> dict[int, list[str]]:
    """The groups that have a queue of each topic, by the topic's id."""
    rows = QueueSnapshot.objects.filter(queue__topic__in=topics).order_by("group__name")
    found: dict[int, list[str]] = {}
    for topic, group in rows.values_list("queue__topic", "group__name").distinct():
        found.setdefault(topic, []).append(group)
    return found


def _clients(text: str, cluster: str | None, shown: int) -> list[Hit]:
    """By client id or address; those that are there first, one more than is shown. Two with one id on two clusters are
    two. Who is there has no part in the groups that it has left."""
    rows = Client.objects.filter(Q(client_id__icontains=text) | Q(address__icontains=text))
    if cluster is not None:
        rows = rows.filter(group__cluster__name=cluster)
    rows = rows.annotate(is_gone=Case(When(gone_by=None, then=Value(0)), default=Value(1), output_field=IntegerField()))
    names = ("client_id", "group__cluster__name")
    found = rows.order_by().values_list(*names).annotate(gone=Min("is_gone")).order_by("gone", *names)[: shown + 1]
    gone = {(client_id, of_cluster): left for client_id, of_cluster, left in found}
    groups: dict[tuple[str, str], list[str]] = {key: [] for key in gone}
    members = rows.filter(client_id__in={client_id for client_id, _ in gone})
    for client_id, of_cluster, group, left in (
        members.order_by("group__name").values_list(*names, "group__name", "is_gone").distinct()
    ):
        key = client_id, of_cluster
        if gone.get(key) == left:
            groups[key].append(group)
    return [Hit(HitKind.CLIENT, *key, tuple(groups[key]), bool(left)) for key, left in gone.items()]
