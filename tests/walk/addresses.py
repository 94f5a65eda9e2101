"""Every address that a room's urls have, with the walked group's names in it: a route that comes is walked too."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, reverse

# `at` is the moment of the walked rebalance, `broker` and what follows
# the place of a dead letter, `look` a look at it, `resend` what sent it again, `reset` what moved offsets; the last
# seven are of alerts.
PROD_BILLING = {
    "cluster": "prod",
    "group": "billing",
    "at": "2026-03-14T02:50:00.000000Z",
    "topic": "Orders",
    "client": "10.0.0.7@3312",
    "look": "expired",
    "message": "7F0000010BEC18B4AAC2372E3FA00002",
    "broker": "broker-a",
    "queue_id": "1",
    "offset": "5",
    "resend": "6f1c1b7e-3c55-4b0e-9f62-0c9f5a6f2d11",
    "reset": "0b0f6d0e-8a4e-4c1b-9a56-4c7f3f2f7a10",
    "rule": "1001",
    "note": "1001",
    "silence": "1001",
    "channel": "1001",
    "filter": "1001",
    "incident": "2b7a51a4-5b0c-4f0e-8e38-7d4b2a9c6d10",
    "delivery": "2b7a51a4-5b0c-4f0e-8e38-7d4b2a9c6d11",
    "preview": "2b7a51a4-5b0c-4f0e-8e38-7d4b2a9c6d12",
    "token": "1001",
}
# Whoever asks for these changes something.
ACTS = frozenset(
    {"api-resend-start", "api-resend-cancel", "api-alert-acknowledge", "api-alert-previews", "api-channel-test"}
    | {"api-alert-preview-cancel", "api-acknowledge-loss", "api-client-threads", "api-group-filter"}
) | {f"api-reset-{act}" for act in ("apply", "resume", "restore", "cancel")}
# These are no documents of ours, or such that a worker asks brokers for.
NO_DOCUMENTS = frozenset({"schema", "docs", "api-message-attempts", "api-prometheus-rules"}) | {
    f"api-{name}-export" for name in ("group-dead-letters", "group-offsets", "reset", "resets")
}

# Pages of what somebody selected are empty without it.
SELECTED = frozenset({"selected", "selected_silence", "selected_plan", "selected_figure"})


def addresses(
    patterns: list[Any], *, leave_out: frozenset[str] = frozenset(), names: dict[str, str] = PROD_BILLING
) -> Iterator[str]:
    for route in patterns:
        if not isinstance(route, URLPattern) or route.name is None or route.name in leave_out:
            continue
        wanted = route.pattern.converters
        assert wanted.keys() <= names.keys(), f"the walk does not know what {wanted.keys()} of {route.name} may be"
        query = "?group={cluster}/{group}".format(**names) if route.name in SELECTED else ""
        yield reverse(route.name, kwargs={name: names[name] for name in wanted}) + query


def named(patterns: list[Any], names: dict[str, str]) -> list[Any]:
    """Those that want no other names: a real cluster has no rebalance or re-send that is known beforehand."""
    return [
        route for route in patterns if isinstance(route, URLPattern) and set(route.pattern.converters) <= names.keys()
    ]


def resources(patterns: list[Any], names: dict[str, str] = PROD_BILLING) -> Iterator[str]:
    """The addresses of REST, the history's once for each of its ways to sum, owners also of two moments."""
    for path in addresses(patterns, leave_out=ACTS | NO_DOCUMENTS, names=names):
        if "history" in path:
            yield from (f"{path}?by={by}" for by in ("group", "topic", "queue"))
            continue
        yield path
        if "assignments" in path and "at" in names:
            # At a reading, and between two that lie far apart.
            yield from (f"{path}?at=2026-03-14T{at}Z" for at in ("02:59:40", "02:30:00"))
