"""Every address that takes a range, a list or a page's size, asked for the most that it gives: none takes it down.

A resource or parameter that comes and is in none of these tables fails here.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.lake.store import Lake
from dashboard import page_urls
from tests.openapi import Operation, operations
from tests.walk.addresses import PROD_BILLING, addresses
from tests.walk.large_site import QUEUES, make_large
from tests.walk.world import a_known_world

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("stopped_clock"),
    pytest.mark.either_database("test_pages.py and test_rest.py; rows, bytes and queries are the same with both"),
]

WEEK = "from=2026-03-07T03:00:00Z&to=2026-03-14T03:00:00Z"
EVER = "from=2000-01-01T00:00:00Z&to=2026-03-14T03:00:00Z"
HOURS = "from=2024-12-11T00:00:00Z&to=2026-03-14T03:00:00Z"
PAGE = "page_size=1000"
# What every list has: a whole page of it, and all of it as CSV.
LIST = (PAGE, "format=csv")
# Of parameters that only narrow, nothing wide can be asked.
NARROWING = (
    {
        "broker",
        "by",
        "cause",
        "client_id",
        "cluster",
        "code",
        "confidence",
        "enabled",
        "fields",
        "firing",
        "format",
        "group",
        "groups",
        "health",
    }
    | {
        "key",
        "key_part",
        "kind",
        "label",
        "language",
        "left_out",
        "measure",
        "message_id",
        "online",
        "ordering",
        "origin_topic",
    }
    | {"outcome", "owner", "queue_id", "resent", "rule", "search", "severity", "state", "status", "step", "tag"}
    | {"topic", "version", "with_lag", "bodies"}
)
# The others, and the widest queries of each resource that has any of them.
WIDENING = {"page", "page_size", "from", "to", "at"}
WIDEST = {
    "alert_rules": LIST,
    "alerts": (f"{PAGE}&{EVER}", f"format=csv&{EVER}", f"{PAGE}&ordering=started_at"),
    "channel_deliveries": LIST,
    "channels": LIST,
    "clusters": LIST,
    "group_assignments": (*LIST, f"{PAGE}&at=2026-03-10T00:00:00Z", "format=csv&at=2026-03-10T00:00:00Z"),
    "group_dead_letters": (f"{PAGE}&{EVER}", f"format=csv&{EVER}", f"{PAGE}&key_part=e"),
    "group_dead_letters_export": (EVER, f"{EVER}&format=jsonl"),
    "group_history": (
        *(f"by=queue&step={step}&{WEEK}" for step in (60, 600, 3600, 86400)),
        *(f"by={by}&{WEEK}" for by in ("queue", "topic", "group")),
        f"by=topic&step=60&{WEEK}",
        f"by=group&step=60&{WEEK}",
        f"by=queue&{HOURS}",
        f"by=group&step=3600&{HOURS}",
        f"by=queue&{EVER}",
    ),
    "group_members": (*LIST, f"{PAGE}&ordering=-messages_per_second"),
    "group_member_rates": (f"step=60&{HOURS}", WEEK, EVER),
    "group_notes": LIST,
    "group_offsets": LIST,
    "group_queues": (*LIST, f"{PAGE}&ordering=-lag_messages"),
    "group_log_events": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "group_findings": LIST,
    "group_rebalances": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "group_resends": LIST,
    "group_retries": (WEEK, f"{HOURS}", EVER),
    "group_subscriptions": (f"{PAGE}&{EVER}", f"format=csv&{EVER}", f"{PAGE}&from=2026-03-14T00:00:00Z"),
    "groups": (*LIST, f"{PAGE}&kind=system", f"{PAGE}&ordering=-lag_messages&search=o"),
    "findings": LIST,
    "group_repeats": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "repeats": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "rebalances": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "resend_messages": LIST,
    "reset_queues": LIST,
    "resets": (f"{PAGE}&{EVER}", f"format=csv&{EVER}"),
    "resets_export": (EVER,),
    "silences": LIST,
    "group_filters": LIST,
}
# What pages read of their addresses.
PAGE_PARAMETERS = (
    {
        "all",
        "asked",
        "at",
        "bodies",
        "cause",
        "cluster",
        "columns",
        "format",
        "group",
        "kind",
        "lag",
        "look",
        "message",
        "next",
    }
    | {"of_cluster", "online", "ordering", "outcome", "page", "range", "rule", "search", "severity", "state", "status"}
    | {"code", "confidence", "measure", "topic", "broker", "owner", "label"}
)
PAGES_WIDEST = "range=90d&all=1"


class Bound(NamedTuple):
    """Of one answer."""

    rows: int = 11_000
    mebibytes: float = 6.0
    queries: int = 120
    peak_mebibytes: float = 60.0


USUAL = Bound()
OF = {
    "group_history": Bound(rows=100_000 + 2 * QUEUES, mebibytes=20.0, peak_mebibytes=130.0),
    # 11,000 windows of each of two members.
    "group_member_rates": Bound(rows=22_000),
    # 11,000 windows, and what is known of now.
    "group_retries": Bound(rows=11_100),
    # Streamed, a few queries for each part.
    "resets_export": Bound(queries=300),
}


class Answer(NamedTuple):
    status: int
    body: bytes
    queries: int
    peak_mebibytes: float


@pytest.fixture
def large(settings: Any, tmp_path: Path, admin_client: Client) -> Client:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    settings.API_RATE = 0
    lake = Lake.at(str(tmp_path))
    make_large(a_known_world(lake), lake)
    # What is read once a process is not of an answer.
    admin_client.get("/groups/")
    return admin_client


def asked(client: Client, address: str) -> Answer:
    """The peak is Linux's own count, begun anew for each answer (proc(5), clear_refs): to trace it takes far longer."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _mebibytes("VmRSS")
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
        body = answer.getvalue()
    return Answer(answer.status_code, body, len(queries), _mebibytes("VmHWM") - before)


def _mebibytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


# How an answer that is refused names what would fit.
LIMITS = ("at most", "more than", "the maximum is")


def complaints(answer: Answer, bound: Bound) -> Iterator[str]:
    # 503: what a worker does is asked of nobody here.
    if answer.status not in (200, 302, 400, 404, 503):
        yield f"status {answer.status}"
    if answer.status == 400 and not any(words in (said := answer.body.decode()) for words in LIMITS):
        yield f"refused without what would fit: {said[:300]}"
    if (rows := _rows(answer.body)) > bound.rows:
        yield f"{rows:,} rows"
    if (size := len(answer.body) / 2**20) > bound.mebibytes:
        yield f"{size:.1f} MiB"
    if answer.queries > bound.queries:
        yield f"{answer.queries} queries"
    if answer.peak_mebibytes > bound.peak_mebibytes:
        yield f"{answer.peak_mebibytes:.0f} MiB held"


def _rows(body: bytes) -> int:
    """Objects within lists, at any depth; of CSV lines."""
    try:
        document = json.loads(body)
    except ValueError:
        return body.count(b"\n") if not body.lstrip().startswith(b"<") else 0
    return _objects(document)


def _objects(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_objects, value.values()))
    return sum(isinstance(one, dict) + _objects(one) for one in value) if isinstance(value, list) else 0


def wide(operation: Operation) -> set[str]:
    names = {one["name"] for one in operation.said.get("parameters", ()) if one["in"] == "query"}
    assert names <= NARROWING | WIDENING, f"{operation.name}: does {names - NARROWING - WIDENING} widen an answer?"
    return names & WIDENING


def test_every_resource_that_can_be_asked_for_much_is_in_the_table():
    assert {one.name for one in operations() if one.method == "get" and wide(one)} == WIDEST.keys()


def test_every_parameter_of_pages_is_known():
    read = re.compile(
        r"""(?:GET(?:\.get|\.getlist)?[(\[]|\bread\(|\bsaid\()\s*"(\w+)"|"(\w+)" in (?:\w+\.)?request\.GET"""
    )
    texts = [path.read_text() for path in Path(page_urls.__file__).parent.glob("*.py")]
    found = {first or second for text in texts for first, second in read.findall(text)}
    assert found - PAGE_PARAMETERS == set()


# Two hundred answers, each the widest that there is.
@pytest.mark.timeout(2700)
def test_no_address_takes_more_than_its_bound_for_the_most_it_can_be_asked_for(large):
    """One test: the site is made once."""
    found = []
    paths = {one.name: one.address(PROD_BILLING) for one in operations() if one.method == "get"}
    for name, queries in WIDEST.items():
        for query in queries:
            answer = asked(large, f"{paths[name]}?{query}")
            found += [f"{name} {query}: {one}" for one in complaints(answer, OF.get(name, USUAL))]
    for address in addresses(page_urls.urlpatterns):
        answer = asked(large, f"{address}{'&' if '?' in address else '?'}{PAGES_WIDEST}")
        if answer.status not in (400, 405):
            found += [f"{address}: {one}" for one in complaints(answer, USUAL)]
    assert found == [], "\n".join(found)
