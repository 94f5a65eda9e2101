"""Services that pair the beginning and the end of an incident by a key. Pure.

Without one Apprise (2.2.0) makes it of a message's title, which differs between the two, so that nothing ends; for
Splunk it takes the routing key, so that one end would end all that fires.
"""

from urllib.parse import urlsplit

# The option of its URL that Apprise takes the key from; of two names for one, the one that counts.
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
    """`url` for one incident by itself, of which `key` tells the end, too; None where the service knows no keys."""
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
