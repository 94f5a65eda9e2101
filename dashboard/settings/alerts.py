"""Alerts: how long they are kept, where channels may send to and for how long, and the mail server."""

from email.utils import parseaddr
from urllib.parse import SplitResult, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from .environment import networks, number, section, text, words

section("Alerts", "How [rules](alerts.md#incidents) are evaluated and [notifications](channels.md) are sent.")

ALERT_HISTORY_DAYS = number(
    "ALERT_HISTORY_DAYS",
    90,
    "How long resolved incidents, sent notifications, expired silences, previews, and times when rules were not "
    "evaluated, are kept.",
    least=1,
)
ALERT_REPEAT_HOURS = number(
    "ALERT_REPEAT_HOURS",
    4,
    "After this time a failed notification of an incident is sent again, while the incident fires.",
)
# A message that cannot be delivered is tried again, after ever longer pauses, for so long.
ALERT_DELIVERY_HOURS = number(
    "ALERT_DELIVERY_HOURS", 24, "How long a failed notification is retried. After that, the next one is sent."
)
ALERT_DELIVERY_SECONDS = number("ALERT_DELIVERY_SECONDS", 10, "How long a receiver may take to answer.", least=0.1)
ALERT_NAMED_IN_MESSAGE = int(
    number(
        "ALERT_NAMED_IN_MESSAGE",
        20,
        "How many incidents a notification names, and how many groups an incident of a broker names. The"
        " rest are counted.",
        least=1,
    )
)


def _address(given: str) -> SplitResult | None:
    """None: it is no URL with a host, or its port is none."""
    try:
        parts = urlsplit(given)
        return parts if parts.hostname and parts.port != 0 and not parts.netloc.endswith(":") else None
    except ValueError:
        return None


def _own_address(given: str) -> str:
    parts = _address(given)
    if given and (parts is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment):
        raise ImproperlyConfigured("CONSUMERSCOPE_URL must be as https://consumerscope.example.org.")
    return given.rstrip("/")


# The address under which people reach this site: links in messages begin with it. Empty: messages have no links.
CONSUMERSCOPE_URL = _own_address(
    text(
        "CONSUMERSCOPE_URL",
        "",
        "The address of this site, such as `https://consumerscope.example.org`. Notifications link to "
        "it. Without it, they have no links.",
    )
)


# Channels send to addresses that everybody can reach, and to those of these networks: never to others.
CONSUMERSCOPE_ALERT_NETWORKS = networks(
    "CONSUMERSCOPE_ALERT_NETWORKS",
    "Networks that channels may send to besides public addresses, separated by commas: `10.0.0.0/8,fd00::/8`.",
)


def _mail_server(url: str) -> dict[str, object]:
    """smtp://user:password@host:port, or smtps://; ?starttls=1 for a connection that becomes TLS."""
    parts = _address(url)
    if parts is None or parts.scheme not in ("smtp", "smtps"):
        raise ImproperlyConfigured(
            "CONSUMERSCOPE_EMAIL_URL must be smtp://user:password@host:port, smtps://… for TLS from the start, "
            "with ?starttls=1 behind it for TLS from then on."
        )
    is_tls = parts.scheme == "smtps"
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if is_tls else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": is_tls,
        "EMAIL_USE_TLS": not is_tls and "starttls=1" in parts.query.split("&"),
    }


# Empty: channels of e-mail say that no mail server is set.
CONSUMERSCOPE_EMAIL_URL = text(
    "CONSUMERSCOPE_EMAIL_URL",
    "",
    "The mail server: `smtp://user:password@host:port`, `smtps://…` for TLS from the start, "
    "`smtp://…?starttls=1` for STARTTLS. Encode other characters than letters and digits in user and"
    " password as `%…`. Without it, no mail is sent.",
)
if CONSUMERSCOPE_EMAIL_URL:
    globals().update(_mail_server(CONSUMERSCOPE_EMAIL_URL))
EMAIL_TIMEOUT = ALERT_DELIVERY_SECONDS
DEFAULT_FROM_EMAIL = text(
    "CONSUMERSCOPE_EMAIL_FROM", "consumerscope@localhost", "The sender of mails: `Consumerscope <alerts@example.org>`."
)
if "@" not in parseaddr(DEFAULT_FROM_EMAIL)[1]:
    raise ImproperlyConfigured("CONSUMERSCOPE_EMAIL_FROM must be an address as Consumerscope <alerts@example.org>.")


# How much /metrics gives: what is left out is counted there.

section("Metrics", "How much [/metrics](metrics.md#how-many-series) returns.")

METRICS_GROUPS = words(
    "METRICS_GROUPS",
    "*",
    "Groups whose names match one of these patterns, separated by commas. Other groups are omitted.",
)
METRICS_SERIES = int(number("METRICS_SERIES", 50000, "The maximum number of series in one family.", least=1))
METRICS_QUEUE_SERIES = int(
    number("METRICS_QUEUE_SERIES", 0, "The maximum number of series per queue in one family. 0 omits them.")
)
METRICS_QUEUE_GROUPS = words(
    "METRICS_QUEUE_GROUPS",
    "",
    "Groups whose names match one of these patterns, separated by commas, have series of each queue.",
)
METRICS_QUEUE_GROUP_SERIES = int(
    number(
        "METRICS_QUEUE_GROUP_SERIES",
        5000,
        "The maximum number of series of METRICS_QUEUE_GROUPS in each `consumerscope_queue_*` family.",
        least=1,
    )
)
METRICS_CLIENT_SERIES = int(
    number(
        "METRICS_CLIENT_SERIES", 10000, "The maximum number of series in each `rocketmq_client_*` family. 0 omits them."
    )
)
