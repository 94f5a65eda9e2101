"""What services with addresses of their own are sent: at the socket, by a stand-in for all of them on loopback."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.models import Delivery
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.certificates import Authority
from tests.channel_rows import a_message, a_real_channel
from tests.fake_clock import FakeClock
from tests.http_receiver import status
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db
HOSTS = (
    "hooks.slack.com",
    "oapi.dingtalk.com",
    "qyapi.weixin.qq.com",
    "open.feishu.cn",
    "api.telegram.org",
    "events.pagerduty.com",
)
UUID = "01234567-89ab-4cde-8f01-23456789abcd"
# Each service says in its own way that it took a message.
TAKEN = json.dumps({"ok": True, "errcode": 0, "errmsg": "ok", "code": 0, "status": "success", "result": {}})
# In the process of Apprise every name leads to the stand-in, which listens on another port.
LEADS_HERE = """
import socket
def here(host, port, *_, **__):
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", {port}))]
socket.getaddrinfo = here
"""
Request = tuple[str, str, Any]


class StandIn(ThreadingHTTPServer):
    """Answers TAKEN, or `says`."""

    def __init__(self) -> None:
        self.got: list[Request] = []
        self.says = TAKEN
        super().__init__(("127.0.0.1", 0), Taker)


class Taker(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_json = "json" in self.headers["Content-Type"]
        body = json.loads(content) if is_json else parse_qs(content)
        self.server.got.append((self.headers["Host"], self.path, body))
        host = self.headers["Host"]
        status(202 if "pagerduty" in host else 200, "ok" if "slack" in host else self.server.says)(self)

    def log_message(self, *_: object) -> None:
        """Tests say what was received."""


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    authority = Authority(tmp_path)
    issued = authority.issue("services", names=HOSTS)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued.certificate, issued.key)
    server = StandIn()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    (tmp_path / "sitecustomize.py").write_text(LEADS_HERE.format(port=server.server_port))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.certificate))
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    yield server
    server.shutdown()
    server.server_close()
    serving.join()


def told(url: str, services: StandIn, kinds: tuple[str, ...] = ("firing",), count: int = 37) -> list[Request]:
    """What arrives of a message of so many incidents."""
    rule, cluster = a_rule("Stalled", severity="critical"), a_cluster()
    events = [
        an_incident_event(an_incident(rule, a_group(cluster, f"group-{n}")), kinds[n % len(kinds)])
        for n in range(count)
    ]
    channel, clock = a_real_channel("chat", kind="apprise", url=url), FakeClock()
    a_message(channel, *events)
    deliver(channel.pk, clock, clock.pause)
    assert [(one.status, one.error) for one in Delivery.objects.all()] == [("sent", None)]
    return services.got


def text_of_many(text: str, longest: int) -> str:
    """It names some and counts the others, and the service takes it."""
    assert len(text.encode()) <= longest
    assert "FIRING 37 · Stalled: group-0 and 36 more" in text
    assert "more, which are not named here." in text
    return text


def test_slack(services: StandIn) -> None:
    [(host, path, body)] = told("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", services)
    assert (host, path) == ("hooks.slack.com", "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ")
    [one] = body["attachments"]
    text_of_many(f"{one['title']}\n{one['text']}", 35_000)


def test_dingtalk_gets_a_signed_request(services: StandIn) -> None:
    [(host, path, body)] = told("dingtalk://secret123@abcdefghijkl12345678", services)
    asked = parse_qs(urlsplit(path).query)
    assert (host, urlsplit(path).path, asked["access_token"]) == (
        "oapi.dingtalk.com", "/robot/send", ["abcdefghijkl12345678"],
    )  # fmt: skip
    assert len(base64.b64decode(asked["sign"][0])) == 32
    assert asked["timestamp"][0].isdigit()
    text_of_many(body[body["msgtype"]].get("content") or body[body["msgtype"]]["text"], 20_000)


def test_wecom(services: StandIn) -> None:
    [(host, path, body)] = told(f"wecombot://{UUID}", services)
    assert (host, path) == ("qyapi.weixin.qq.com", f"/cgi-bin/webhook/send?key={UUID}")
    assert body["msgtype"] == "text"
    text_of_many(body["text"]["content"], 2048)


def test_feishu(services: StandIn) -> None:
    [(host, path, body)] = told("feishu://abcdefghijklmnop", services)
    assert (host, path.rstrip("/")) == ("open.feishu.cn", "/open-apis/bot/v2/hook/abcdefghijklmnop")
    assert body["msg_type"] == "text"
    text_of_many(body["content"]["text"], 20_000)


def test_telegram(services: StandIn) -> None:
    [(host, path, body)] = told("tgram://123456789:abcdefg_hijklmnop/-100123", services)
    assert (host, path) == ("api.telegram.org", "/bot123456789:abcdefg_hijklmnop/sendMessage")
    assert str(body["chat_id"]) == "-100123"
    text_of_many(body["text"], 4096)


def test_pagerduty_is_told_of_each_incident_and_of_its_end(services: StandIn) -> None:
    got = told("pagerduty://intkey1234@apikey1234", services, ("firing", "resolved"), count=4)
    assert {(host, path) for host, path, _ in got} == {("events.pagerduty.com", "/v2/enqueue")}
    assert [body["event_action"] for *_, body in got] == ["trigger", "resolve"] * 2
    assert len({body["dedup_key"] for *_, body in got}) == 4
    told_of = [body.get("payload", {}).get("summary", "") for *_, body in got]
    assert [f"group-{n}" in said for n, said in enumerate(told_of)] == [True, False] * 2


@pytest.mark.parametrize(
    ("url", "says", "why"),
    [
        ("dingtalk://secret123@abcdefghijkl12345678", {"errcode": 310000, "errmsg": "sign not match"}, "310000 sign"),
        (f"wecombot://{UUID}", {"errcode": 93000, "errmsg": "invalid webhook url"}, "93000 invalid"),
        ("feishu://abcdefghijklmnop", {"code": 19024, "msg": "Key Words Not Found"}, "19024 Key Words"),
    ],
)
def test_a_refusal_that_comes_as_200_is_none_the_less_one(
    services: StandIn, url: str, says: dict[str, Any], why: str
) -> None:
    services.says = json.dumps(says)
    channel, clock = a_real_channel("chat", kind="apprise", url=url), FakeClock()
    delivery = a_message(channel, an_incident_event(an_incident(a_rule(), a_group(a_cluster()))))
    deliver(channel.pk, clock, clock.pause)
    delivery.refresh_from_db()
    assert (delivery.status, services.got != []) == ("waiting", True)
    assert why in (delivery.error or "")
