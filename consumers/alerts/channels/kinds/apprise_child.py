"""Run as a process: reads notices from stdin, sends them through Apprise, prints {ok, log}. Uses no database.

Nothing here connects to an address that is not allowed: an audit hook checks each connection.
"""

import ipaddress
import json
import logging
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from .addresses import Network, is_allowed

# The process prints this line for each accepted notice.
SENT = "sent"
# Hosts that answer 200 to requests that they refuse, with the error in the body; Apprise (2.2.0) checks the status
# alone.
TELL_INSIDE = ("oapi.dingtalk.com", "qyapi.weixin.qq.com", "open.feishu.cn", "open.larksuite.com")
# PEP 578 audit events: GOING_OUT is checked by address; FORBIDDEN is refused, because sending needs none of it.
GOING_OUT = {"socket.connect", "socket.sendto", "socket.sendmsg"}
FORBIDDEN = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.bind"}


class NotAllowed(ConnectionError):
    pass


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        # The host that a service led to, where channels may not send there.
        self.not_public: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(" ".join(record.getMessage().split()))


def guard(networks: list[Network], log: Lines) -> None:
    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FORBIDDEN:
            raise NotAllowed(f"{event} is not allowed.")
        if event in GOING_OUT and not _goes_out(arguments[1], networks):
            host = arguments[1][0] if isinstance(arguments[1], tuple) else arguments[1]
            log.not_public = str(host)
            raise NotAllowed(f"{host} is not a public address.")

    sys.addaudithook(judge)


def _goes_out(address: Any, networks: list[Network]) -> bool:
    try:
        return is_allowed(ipaddress.ip_address(address[0]), networks)
    except (TypeError, ValueError):  # a path, or an address with a zone
        return False


def hear(sessions: Any, log: Lines) -> None:
    """Turns a refusal that was answered with status 200 into a failure."""
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
    """Apprise (2.2.0) quotes DingTalk's signature, and requests quotes it again; DingTalk accepts it quoted
    once only.
    """
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
    # Notices are sent in order, and sending stops at the first failure, so that none overtakes another.
    ok = all(_sent(apprise, asset, notice) for notice in wanted["notices"])
    print(json.dumps({"ok": ok, "log": log.lines, "host": log.not_public}))


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


# Limits of a service's text, and the meaning of its answer. Pure.


def fitting(texts: Sequence[dict[str, str]], longest: int, longest_title: int) -> dict[str, str]:
    """The first of `texts` (each names fewer changes) whose body the service takes; else the last, cut.

    `longest`: what a body may have, counted in bytes: some services count those, and none counts less. A service
    without titles (`longest_title` 0) has the title as the first line of the body.
    """
    for text in texts:
        if _room(text, longest, longest_title) >= len(text["body"].encode()):
            return text
    last = texts[-1]
    return {**last, "body": cut(last["body"], _room(last, longest, longest_title))}


def _room(text: dict[str, Any], longest: int, longest_title: int) -> int:
    return longest if longest_title > 0 else longest - len(text["title"].encode()) - len("\r\n")


def cut(text: str, most: int) -> str:
    """At most so many bytes, in whole characters, with a mark that text was cut."""
    sign = "…".encode()
    held = text.encode()
    return text if len(held) <= most else held[: max(most - len(sign), 0)].decode(errors="ignore") + sign.decode()


def refusal(answer: str) -> str | None:
    """Why the answer of one of TELL_INSIDE is a refusal, or None: `errcode` (DingTalk, WeCom) or `code` is not 0."""
    try:
        reply = json.loads(answer)
    except ValueError:
        return None
    if not isinstance(reply, dict):
        return None
    code = reply.get("errcode", reply.get("code", 0))
    return f"The service refused it: {code} {reply.get('errmsg', reply.get('msg', ''))}".strip() if code else None


if __name__ == "__main__":
    main()
