"""Chat and paging services through the Apprise library, in a process of its own.

There every connection is judged by the address that it goes to, whatever leads to it; nothing of the environment names
a proxy or a password; and it is ended when its time is over. Apprise resolves names, follows redirects and tries again
as it likes, and none of that could be bounded from within a worker.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from consumers.models import Delivery, IncidentEventKind, Severity

from .outcome import Outcome
from .render import Rendered, render
from .secrets_of import Told
from .sending import Means

PROJECT = Path(__file__).parents[3]
# The process needs so long to begin.
STARTS_SECONDS = 10.0
# It pairs the beginning and the end of an incident by a key, and is told of each one by itself.
KEYED = "pagerduty://"
# How to begin, and whose certificates to believe. The site's own keys and passwords are none of a library's business.
KEPT = {"PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR"}
KEPT |= {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
MOST_LINES = 3


def send(told: Told, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    words = render(delivery.payload, delivery.channel, means.named)
    notices = notices_of(told["url"], delivery, words, means.named)
    wanted = {"networks": [str(network) for network in means.networks], "notices": notices}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "consumers.alerts.channels.apprise_child"],
            input=json.dumps(wanted),
            capture_output=True,
            text=True,
            cwd=PROJECT,
            env=environment(os.environ),
            timeout=means.seconds + STARTS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"The service did not answer within {means.seconds + STARTS_SECONDS:g} s.")
    return _outcome(ended, words.note)


def _outcome(ended: "subprocess.CompletedProcess[str]", note: str | None) -> Outcome:
    try:
        said = json.loads(ended.stdout)
    except ValueError:
        return Outcome(False, f"Apprise ended with {ended.returncode} and said nothing that can be read.")
    lines = list(dict.fromkeys(said["log"]))[:MOST_LINES]
    answer = " ".join(lines) or ("The service took it." if said["ok"] else "Apprise did not say why.")
    return Outcome(said["ok"], answer + (f" ({note})" if note else ""))


def environment(known: Mapping[str, str]) -> dict[str, str]:
    """Requests would take proxies from it, and passwords from ~/.netrc."""
    kept = {name: value for name, value in known.items() if name in KEPT}
    return {**kept, "NO_PROXY": "*", "NETRC": os.devnull}


def notices_of(url: str, delivery: Delivery, words: Rendered, named: int) -> list[dict[str, str]]:
    """What the process is to send, in this order."""
    events = delivery.payload["events"]
    if not url.lower().startswith(KEYED) or delivery.is_test:
        return [_notice(url, words, type_of(events))]
    return [_keyed(url, delivery, event) for event in events]


def _keyed(url: str, delivery: Delivery, event: dict[str, Any]) -> dict[str, str]:
    one = render({**delivery.payload, "events": [event]}, delivery.channel, 1)
    keyed = f"{url}{'&' if '?' in url else '?'}action=map&dedup={event['incident']['id']}"
    return _notice(keyed, one, type_of([event]))


def _notice(url: str, words: Rendered, kind: str) -> dict[str, str]:
    return {"url": url, "title": words.title, "body": words.body, "type": kind}


def type_of(events: list[dict[str, Any]]) -> str:
    """As Apprise calls it: colours and icons, and what ends in services that know an end."""
    firing = {event["incident"]["severity"] for event in events if event["kind"] == IncidentEventKind.FIRING}
    if not firing:
        return "success"
    if Severity.CRITICAL in firing:
        return "failure"
    return "warning" if Severity.WARNING in firing else "info"
