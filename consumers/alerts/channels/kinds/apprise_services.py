"""The Apprise services that channels may use, and the check of a service's URL.

Excluded are services that write files, run programs or connect to this machine, and those that send to any address
(json, xml, form, mailto …): webhooks and e-mail serve that purpose. New services of Apprise are excluded until they are
listed here.
"""

import logging
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from consumers.alerts.fields import WrongValue

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
        raise WrongValue("It is one URL of Apprise, as slack://… or https://hooks.slack.com/….")
    try:
        asked = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        raise WrongValue("It is not a URL: a host of IPv6 stands between '[' and ']'.") from None
    options = {name.strip().lstrip("+-:").lower() for name, _ in asked}
    if options & READ_FILES:
        raise WrongValue(f"Options that name files are not taken: {', '.join(sorted(options & READ_FILES))}.")
    schema = _schema(url)
    if schema not in ALLOWED:
        raise WrongValue(
            f"Channels do not send through {found[1].lower()}://. Allowed are the services of docs/channels.md; "
            "to an address of your own send a webhook, and to mailboxes e-mail."
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
        raise WrongValue(f"Apprise does not understand this URL of {schema}://: a part of it is missing or malformed.")
    name = str(plugin.service_name)
    return f"{name} at {urlsplit(url).hostname}" if schema in OWN_SCHEMAS else name


def _schema(url: str) -> str | None:
    """The schema of the service that Apprise selects. It differs for a service's own address
    (https://hooks.slack.com/…).
    """
    said = _apprise().plugins.url_to_dict(url, secure_logging=True)
    return None if said is None else str(said["schema"]).lower()


def _apprise() -> Any:
    """Imports Apprise on demand: that takes half a second. Its log is off because it repeats URLs that it
    cannot parse.
    """
    import apprise

    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    return apprise
