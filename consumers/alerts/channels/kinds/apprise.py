"""Chat and paging services through the Apprise library, in a separate process.

In that process every connection is checked by its target address, the environment names no proxy or password, and the
process is killed at its deadline. Apprise resolves names, follows redirects and retries as it likes; none of that could
be limited inside a worker.
"""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts.channels.render import render
from consumers.alerts.fields import EntryField, Shape, WrongValue, text
from consumers.models import ChannelKind, Delivery, IncidentEventKind, Severity
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason, stored_reasons
from consumers.words.marks import listed

from .apprise_child import SENT
from .channel_kind import ChannelKindSpec, SealedFields
from .sending import Means, Outcome, quoted, with_note

# The Apprise services that channels may use, and the check of a service's URL.
#
# Excluded are services that write files, run programs or connect to this machine, and those that send to any address
# (json, xml, form, mailto …): webhooks and e-mail serve that purpose. New services of Apprise are excluded until they
# are listed here.

# Services at their vendors' own addresses.
CLOUD = (
    *("slack", "dingtalk", "wecombot", "wechat", "feishu", "lark", "tgram", "pagerduty", "opsgenie", "discord"),
    *("gchat", "wxteams", "webex", "workflow", "workflows", "zulip", "splunk", "victorops", "incidentio", "ilert"),
    *("betterstack", "firehydrant", "squadcast", "signl4", "pagertree", "spike", "pover", "pbul", "line", "flock"),
    *("cliq", "zcliq", "zohocliq", "ringc", "ryver", "twist", "zoom", "schan", "pushplus", "twilio", "threema"),
)
# Services on people's own servers: their addresses are checked when a message is sent.
OWN = ("mmost", "rocket", "ntfy", "gotify", "matrix", "synology", "goalert", "nctalk", "signal", "bark")
OWN_SCHEMAS = frozenset((*OWN, *(f"{schema}s" for schema in OWN)))
ALLOWED = OWN_SCHEMAS | set(CLOUD)
# Options that name files of this machine.
READ_FILES = {"template", "attach", "keyfile", "file", "path"}
SCHEMA = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)


def checked_apprise_url(url: str) -> str:
    """Raises WrongValue with a sentence that does not repeat the URL: the URL is a secret."""
    found = SCHEMA.match(url)
    if not found:
        raise WrongValue(gettext("Must be one Apprise URL, such as slack://… or https://hooks.slack.com/…."))
    try:
        asked = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        raise WrongValue(gettext("Not a URL: write an IPv6 host between '[' and ']'.")) from None
    options = {name.strip().lstrip("+-:").lower() for name, _ in asked}
    if options & READ_FILES:
        raise WrongValue(gettext("Options that name files are not allowed: %s.") % listed(sorted(options & READ_FILES)))
    schema = _schema(url)
    if schema not in ALLOWED:
        raise WrongValue(
            gettext(
                "Channels do not send through %s://. Allowed are the services of docs/channels.md; to an address of "
                "your own send a webhook, and to mailboxes e-mail."
            )
            % found[1].lower()
        )
    return url


def service_of(url: str) -> str:
    """The service's name, and its host where people run their own. The URL must be checked before. Raises
    WrongValue.
    """
    apprise = _apprise()
    plugin = apprise.Apprise.instantiate(url)
    schema = _schema(url)
    if plugin is None:
        raise WrongValue(
            gettext("Apprise does not understand this URL of %s://: a part of it is missing or malformed.") % schema
        )
    name = str(plugin.service_name)
    return f"{name} at {urlsplit(url).hostname}" if schema in OWN_SCHEMAS else name


def _schema(url: str) -> str | None:
    """The schema of the service that Apprise selects. It differs for a service's own address
    (https://hooks.slack.com/…).
    """
    parts = _apprise().plugins.url_to_dict(url, secure_logging=True)
    return None if parts is None else str(parts["schema"]).lower()


def _apprise() -> Any:
    """Imports Apprise on demand: that takes half a second. Its log is off because it repeats URLs that it
    cannot parse.
    """
    import apprise

    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    return apprise


PROJECT = Path(__file__).parents[4]
# The start of the process takes this long.
STARTS_SECONDS = 10.0
# The variables needed to start and to verify certificates. The library gets none of the site's keys and passwords.
PASSED_ON = {"PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR"}
PASSED_ON |= {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
MOST_LINES = 3
FEWER = (10, 5, 3, 2, 1)
Notice = dict[str, Any]


def send(fields: SealedFields, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    notices = notices_of(fields["url"], delivery, means.named)
    to_go = [notice for notice in notices if notice["key"] not in delivery.accepted_by]
    wanted = {"networks": [str(network) for network in means.networks], "notices": to_go}
    seconds = means.seconds + STARTS_SECONDS
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "consumers.alerts.channels.kinds.apprise_child"],
            input=json.dumps(wanted),
            capture_output=True,
            text=True,
            cwd=PROJECT,
            env=environment(os.environ),
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        taken = _note_accepted(delivery, to_go, (late.stdout or b"").decode(errors="replace"))
        limit = f"{seconds:g}"
        if len(to_go) == 1:
            return Outcome(False, stored_reason(DeliveryResult.SERVICE_LATE, limit=limit))
        partly = stored_reason(DeliveryResult.SERVICE_LATE_PARTLY, limit=limit, taken=taken, of=len(to_go))
        return Outcome(False, partly)
    _note_accepted(delivery, to_go, ended.stdout)
    return _outcome(ended, notices[0]["note"])


def _note_accepted(delivery: Delivery, to_go: list[Notice], printed: str) -> int:
    """Returns how many notices were accepted. Each notice of a message is sent once, even if the message takes several
    attempts.
    """
    keys = [notice["key"] for notice in to_go[: printed.splitlines().count(SENT)] if notice["key"]]
    if keys:
        delivery.accepted_by = [*delivery.accepted_by, *keys]
        Delivery.objects.filter(pk=delivery.pk).update(accepted_by=delivery.accepted_by)
    return len(keys)


def _outcome(ended: "subprocess.CompletedProcess[str]", note: str | None) -> Outcome:
    try:
        reply = json.loads(ended.stdout.rpartition(f"{SENT}\n")[2])
    except ValueError:
        unreadable = stored_reason(DeliveryResult.APPRISE_UNREADABLE, exit_code=ended.returncode)
        return Outcome(False, unreadable)
    lines = [quoted(line) for line in list(dict.fromkeys(reply["log"]))[:MOST_LINES]]
    reasons = [] if reply["host"] is None else [stored_reason(DeliveryResult.SERVICE_NOT_PUBLIC, host=reply["host"])]
    if lines:
        reasons.append(stored_reason(DeliveryResult.APPRISE_SAID, lines=" ".join(lines)))
    silent = stored_reason(DeliveryResult.SERVICE_TOOK if reply["ok"] else DeliveryResult.APPRISE_SILENT)
    return Outcome(reply["ok"], with_note(stored_reasons(reasons or [silent]), note))


def environment(known: Mapping[str, str]) -> dict[str, str]:
    """Environment of the process. Without it, Requests would take proxies from the environment and passwords from
    ~/.netrc.
    """
    passed_on = {name: value for name, value in known.items() if name in PASSED_ON}
    return {**passed_on, "NO_PROXY": "*", "NETRC": os.devnull}


def notices_of(url: str, delivery: Delivery, named: int) -> list[Notice]:
    """The notices that the process sends, in this order. `key` identifies one notice among several."""
    events = delivery.payload["events"]
    by_key = [(keyed(url, event["incident"]["id"]), event) for event in events if not delivery.is_test]
    notices = [_notice(own, _key(event), delivery, [event], 1) for own, event in by_key if own is not None]
    return notices or [_notice(unkeyed(url), "", delivery, events, named)]


def _key(event: dict[str, Any]) -> str:
    return f"{event['incident']['id']} {event['kind']}"


def _notice(url: str, key: str, delivery: Delivery, events: list[dict[str, Any]], named: int) -> Notice:
    """One notice with several texts, each naming fewer changes and counting the others: services limit texts
    differently.
    """
    payload = {**delivery.payload, "events": events}
    most = min(named, len(events))
    counts = [most, *(count for count in FEWER if count < most)]
    words = [render(payload, delivery.channel, count) for count in counts]
    texts = [{"title": one.title, "body": one.body} for one in words]
    return {"url": url, "key": key, "texts": texts, "type": type_of(events), "note": words[0].note}


def type_of(events: list[dict[str, Any]]) -> str:
    """Apprise's notification type: it sets colours and icons, and resolves incidents in services that support it."""
    firing = {event["incident"]["severity"] for event in events if event["kind"] == IncidentEventKind.FIRING}
    if not firing:
        return "success"
    if Severity.CRITICAL in firing:
        return "failure"
    return "warning" if Severity.WARNING in firing else "info"


# Services that pair the start and the resolution of an incident by a key. Pure.
# Without a key Apprise (2.2.0) derives one from a message's title. Titles of start and resolution differ, so that
# nothing would resolve; for Splunk it takes the routing key, so that one resolution would resolve all that fires.

# The URL option that Apprise takes the key from; of two names for it, the one that takes precedence.
OPTIONS = {
    **dict.fromkeys(("pagerduty", "incidentio", "ilert", "firehydrant", "squadcast", "goalert", "goalerts"), "dedup"),
    **dict.fromkeys(("splunk", "victorops"), "entity_id"),
    "signl4": "external_id",
    "pagertree": "thirdparty",
}
# Of the addresses that services give themselves.
HOSTS = {
    "alert.victorops.com": "entity_id",
    **dict.fromkeys(("api.incident.io", "signals.firehydrant.com"), "dedup"),
    **dict.fromkeys(("api.squadcast.com", "api.eu.squadcast.com"), "dedup"),
}


def keyed(url: str, key: str) -> str | None:
    """`url` for one incident, with a `key` that the resolution uses too; None where the service supports no keys."""
    parts = urlsplit(url)
    option = OPTIONS.get(parts.scheme.lower()) or HOSTS.get((parts.hostname or "").lower())
    return None if option is None else _with(url, f"action=map&{option}={key}")


def unkeyed(url: str) -> str:
    """`url` for all of a message. Opsgenie would add what is of severity info to an alert that Apprise remembers; as it
    remembers none, nothing would be sent.
    """
    return _with(url, ":info=new") if urlsplit(url).scheme.lower() == "opsgenie" else url


def _with(url: str, options: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{options}"


def service_url(value: Any) -> str:
    return checked_apprise_url(str(text(2000, required=True)(value)))


KIND = ChannelKindSpec(
    code=ChannelKind.APPRISE,
    label=_("service through Apprise"),
    has_templates=True,
    send=send,
    # Chat services refuse more than about one message per second.
    pause_seconds=1.0,
    target=lambda fields: service_of(fields["url"]),
    fields=(
        EntryField(
            name="url",
            shape=Shape.TEXT,
            check=service_url,
            label=_("Address"),
            hint=_("an Apprise URL: slack://…, dingtalk://…, feishu://…, pagerduty://…"),
        ),
    ),
)
