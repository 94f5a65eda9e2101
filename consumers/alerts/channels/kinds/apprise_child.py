"""Run as a process: reads notices from stdin, sends them through Apprise, prints {ok, log}. Knows no database.

Nothing in here connects to an address that is not allowed: the interpreter itself asks before each connection.
"""

import ipaddress
import json
import logging
import sys
from typing import Any
from urllib.parse import unquote, urlsplit

from .addresses import Network, is_allowed
from .apprise_words import SENT, TELL_INSIDE, fitting, refusal

# PEP 578. What a message to a service has no use for.
GOING_OUT = {"socket.connect", "socket.sendto", "socket.sendmsg"}
FORBIDDEN = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.bind"}


class NotAllowed(ConnectionError):
    pass


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(" ".join(record.getMessage().split()))


def guard(networks: list[Network], log: Lines) -> None:
    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FORBIDDEN:
            raise NotAllowed(f"{event} is not allowed.")
        if event in GOING_OUT and not _goes_out(arguments[1], networks):
            host = arguments[1][0] if isinstance(arguments[1], tuple) else arguments[1]
            sentence = (
                f"The service is at {host}, which is not a public address: name its network in "
                "CONSUMERSCOPE_ALERT_NETWORKS if channels may send there."
            )
            log.lines.insert(0, sentence)
            raise NotAllowed(sentence)

    sys.addaudithook(judge)


def _goes_out(address: Any, networks: list[Network]) -> bool:
    try:
        return is_allowed(ipaddress.ip_address(address[0]), networks)
    except (TypeError, ValueError):  # a path, or an address with a zone
        return False


def hear(sessions: Any, log: Lines) -> None:
    """A refusal that comes as 200 is a failure to whoever asked."""
    sends = sessions.send

    def send(self: Any, request: Any, **more: Any) -> Any:
        answer = sends(self, request, **more)
        host = urlsplit(request.url).hostname
        why = refusal(answer.text) if host in TELL_INSIDE and answer.ok else None
        if why is not None:
            log.lines.insert(0, why)
            answer.status_code = 400
        return answer

    sessions.send = send


def sign_once(service: Any) -> None:
    """Apprise (2.2.0) quotes DingTalk's signature, and requests quotes it again: DingTalk takes it only once."""
    signs = service.get_signature

    def signature() -> tuple[str, str]:
        stamp, signed = signs()
        return stamp, unquote(signed)

    service.get_signature = signature


def main() -> None:
    wanted = json.load(sys.stdin)
    import apprise
    import requests

    log = Lines()
    logger = logging.getLogger("apprise")
    logger.addHandler(log)
    logger.propagate = False
    asset = apprise.AppriseAsset(
        app_id="Consumerscope",
        app_desc="Consumerscope",
        http_redirects=False,
        secure_logging=True,
        image_url_mask="",
        image_url_logo="",
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    hear(requests.Session, log)
    guard([ipaddress.ip_network(text) for text in wanted["networks"]], log)
    # One after the other, in their order; no further one after a failure, so that none overtakes.
    ok = all(_sent(apprise, asset, notice) for notice in wanted["notices"])
    print(json.dumps({"ok": ok, "log": log.lines}))


def _sent(apprise: Any, asset: Any, notice: dict[str, Any]) -> bool:
    service = apprise.Apprise.instantiate(notice["url"], asset=asset)
    if service is None:
        return False
    if hasattr(service, "get_signature"):
        sign_once(service)
    text = fitting(notice["texts"], service.body_maxlen, service.title_maxlen)
    ok = bool(
        service.notify(
            body=text["body"],
            title=text["title"],
            notify_type=notice["type"],
            body_format=apprise.NotifyFormat.TEXT,
        )
    )
    if ok:
        print(SENT, flush=True)
    return ok


if __name__ == "__main__":
    main()
