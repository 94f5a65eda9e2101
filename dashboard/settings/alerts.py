"""Alerts: how long they are kept, where channels may send to and for how long, and the mail server."""

import os
from email.utils import parseaddr
from urllib.parse import SplitResult, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from .environment import networks, number

# So long incidents, deliveries and previews are kept once they are over.
ALERT_HISTORY_DAYS = number("ALERT_HISTORY_DAYS", 90, least=1)
# A message that cannot be delivered is tried again, after ever longer pauses, for so long.
ALERT_DELIVERY_HOURS = number("ALERT_DELIVERY_HOURS", 24)
ALERT_DELIVERY_SECONDS = number("ALERT_DELIVERY_SECONDS", 10, least=0.1)
# Incidents that one message names; it counts the others.
ALERT_NAMED_IN_MESSAGE = int(number("ALERT_NAMED_IN_MESSAGE", 20, least=1))


def _address(text: str) -> SplitResult | None:
    """None: it is no URL with a host, or its port is none."""
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and parts.port != 0 and not parts.netloc.endswith(":") else None
    except ValueError:
        return None


def _own_address(text: str) -> str:
    parts = _address(text)
    if text and (parts is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment):
        raise ImproperlyConfigured("CONSUMERSCOPE_URL must be as https://consumerscope.example.org.")
    return text.rstrip("/")


# The address under which people reach this site: links in messages begin with it. Empty: messages have no links.
CONSUMERSCOPE_URL = _own_address(os.environ.get("CONSUMERSCOPE_URL", ""))


# Channels send to addresses that everybody can reach, and to those of these networks: never to others.
CONSUMERSCOPE_ALERT_NETWORKS = networks("CONSUMERSCOPE_ALERT_NETWORKS")


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
CONSUMERSCOPE_EMAIL_URL = os.environ.get("CONSUMERSCOPE_EMAIL_URL", "")
if CONSUMERSCOPE_EMAIL_URL:
    globals().update(_mail_server(CONSUMERSCOPE_EMAIL_URL))
EMAIL_TIMEOUT = ALERT_DELIVERY_SECONDS
DEFAULT_FROM_EMAIL = os.environ.get("CONSUMERSCOPE_EMAIL_FROM") or "consumerscope@localhost"
if "@" not in parseaddr(DEFAULT_FROM_EMAIL)[1]:
    raise ImproperlyConfigured("CONSUMERSCOPE_EMAIL_FROM must be an address as Consumerscope <alerts@example.org>.")
