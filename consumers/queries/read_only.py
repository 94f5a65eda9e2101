"""Which clusters are never written to: the setting CONSUMERSCOPE_READ_ONLY_CLUSTERS names them or their addresses.

A cluster can be registered twice, under two names. A protected cluster protects every other one that has a name server
or a broker in common with it.
"""

import ipaddress
from collections.abc import Iterable

from django.conf import settings

from consumers.models import Broker, Cluster
from consumers.rocketmq.wire.codes import LocalProtocolError, registered_address

ALL = "*"
Addresses = frozenset[tuple[str, int]]


def marked_by(cluster_name: str) -> str | None:
    """The word of the setting that protects the cluster; null where nothing does. Two queries, or none."""
    named = settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS
    for word in (cluster_name, ALL):
        if word in named:
            return word
    return read_only_clusters().get(cluster_name) if named else None


def read_only_clusters() -> dict[str, str]:
    """{name of a registered cluster: the word of the setting that protects it}. Two queries, or none."""
    named = settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS
    if not named:
        return {}
    known = _addresses_of_clusters()
    protected = {name: name if name in named else ALL for name in known if name in named or ALL in named}
    marked = [(word, found) for word in named if (found := _addresses([word]))]
    marked += [(word, known[name]) for name, word in protected.items()]
    # What a protected cluster has in common with a third one protects that one too.
    while marked:
        word, addresses = marked.pop()
        reached = [name for name, own in known.items() if name not in protected and own & addresses]
        protected |= dict.fromkeys(reached, word)
        marked += [(word, known[name]) for name in reached]
    return protected


def words_that_protect_nothing() -> list[str]:
    """Of those that the setting has: misspelt, or not registered yet. Two queries, or none."""
    named = [word for word in settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS if word != ALL]
    if not named:
        return []
    known = _addresses_of_clusters()
    every = frozenset[tuple[str, int]]().union(*known.values())
    return sorted({word for word in named if word not in known and not _addresses([word]) & every})


def _addresses_of_clusters() -> dict[str, Addresses]:
    by_cluster: dict[str, list[str]] = {cluster.name: cluster.name_servers for cluster in Cluster.objects.all()}
    for name, address in Broker.objects.values_list("cluster__name", "address"):
        by_cluster[name].append(address)
    return {name: _addresses(addresses) for name, addresses in by_cluster.items()}


def _addresses(texts: Iterable[str]) -> Addresses:
    """What is no address is left out: a word of the setting may be a name."""
    found = set()
    for text in texts:
        try:
            address = registered_address(text)
        except LocalProtocolError:
            continue
        found.add((_host(address.host), address.port))
    return frozenset(found)


def _host(host: str) -> str:
    """One spelling for one host, as far as that can be told without asking anybody."""
    name = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address("127.0.0.1" if name == "localhost" else name))
    except ValueError:
        return name
