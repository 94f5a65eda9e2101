"""REST calls made of the schema and then damaged: no answer is an error of the site, none takes long.

`python -m tests.fuzz rest 100000 [SEED]` asks so many; one that failed is printed with its number.
"""

import json
import math
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlencode

# What one call may take of a processor: a loaded machine makes it no slower.
MOST_SECONDS = 5.0
JSON_TYPE = "application/json"
ROLES = ("viewer", "operator", "admin")
METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
TYPES = (JSON_TYPE, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "a/b",
         "application/json; charset=utf-16", "application/json; charset=nope", "", "\xff")  # fmt: skip
ACCEPTS = ("*/*", JSON_TYPE, "text/csv", "text/html", "application/json;q=0", "nonsense", "text/*", ";;q=x", "\xff", "")
TEXTS = ("", " ", "\0", "a\0b", "\ud800", "💥", "é" * 300, "x" * 10_000, "%", "%00", "../../etc/passwd", "' OR 1=1--",
         "{{7*7}}", "null", "NaN", "true", "0", "-1", "1e400", "9" * 400, "2026-13-45T99:99Z", "0001-01-01T00:00:00Z",
         "9999-12-31T23:59:59.999999+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-03-14",
         "2026-03-14T03:00:00", "٣", "\u202e", "\r\nX: y", "*", "[", "(?:a+)+$", "a,b,c", "=1+1", "prod", "billing",
         "Orders", "%RETRY%billing", "broker-a", "00000000-0000-0000-0000-000000000000")  # fmt: skip
NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 0.1, -0.0, 1e308, 5e-324)
RAW = (b"", b"{", b"[", b'{"a":', b'{"a": 1', b"\xff\xfe", b"\0", b"nul", b"NaN", b"[1,]", b'"\\ud800"',
       b'{"a":1,"a":2}', b"[" * 5_000, b"9" * 6_000, b"{}{}", b"a=b&c=d", b'{"\\u0000": "\\u0000"}')  # fmt: skip


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: str
    role: str
    headers: dict[str, str]
    body: bytes | None

    def __str__(self) -> str:
        said = f"{self.method.upper()} {self.path}?{self.query} as {self.role} with {self.headers}"
        return said[:1500] + ("" if self.body is None else f"\n  body {self.body[:600]!r}")


@dataclass
class Found:
    """What came of many calls."""

    statuses: Counter[int] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    seconds: float = 0.0

    def __str__(self) -> str:
        counts = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        calls, (longest, which) = sum(self.statuses.values()), self.slowest
        return (
            f"{calls:,} calls in {self.seconds:,.0f} s ({counts}); {len(self.complaints)} failed; "
            f"the longest took {longest:.2f} s of a processor: {which[:200]}"
        )


class Calls:
    """The call of a number is the same at each run with one seed."""

    def __init__(self, seed: int) -> None:
        # Django is set up by now, and not when this module is imported.
        from consumers.rest.schema import PLACES
        from tests.openapi import example, operations, schema

        self._seed, self._places, self._operations = seed, PLACES, operations()
        self._components = schema()["components"]["schemas"]
        self._example = example

    def call(self, number: int) -> Call:
        self._chance = random.Random(f"{self._seed}-{number}")
        chance = self._chance
        operation = chance.choice(self._operations)
        method = operation.method if chance.random() < 0.93 else chance.choice(METHODS)
        places = {name: quote(self._place(name), safe="", errors="surrogatepass") for name in self._places}
        query = self._query([one for one in operation.said.get("parameters", ()) if one["in"] == "query"])
        body = self._body(operation.body) if operation.body is not None or chance.random() < 0.1 else None
        headers = self._headers()
        role = chance.choice((*ROLES, *ROLES, "nobody", "expired", "session", "session with CSRF"))
        return Call(method, operation.path.format(**places), query, role, headers, body)

    def _place(self, name: str) -> str:
        known = str(self._places[name])
        if self._chance.random() < 0.8:
            return known
        # A slash ends a place: such an address is another's.
        return self._spoilt(self._chance.choice((known, *TEXTS))).replace("/", "") or "x"

    def _query(self, parameters: Sequence[dict[str, Any]]) -> str:
        chance, pairs = self._chance, list[tuple[str, str]]()
        for parameter in parameters:
            if chance.random() < 0.3:
                pairs.append((parameter["name"], self._text_of(parameter["schema"])))
        if pairs and chance.random() < 0.1:
            pairs.append(chance.choice(pairs))
        if chance.random() < 0.08:
            pairs.append((chance.choice(TEXTS), chance.choice(TEXTS)))
        text = urlencode(
            [(one.encode(errors="surrogatepass"), two.encode(errors="surrogatepass")) for one, two in pairs]
        )
        return self._spoilt(text).encode("ascii", "ignore").decode() if chance.random() < 0.03 else text

    def _text_of(self, schema: dict[str, Any]) -> str:
        value = self._value(schema, 0)
        return value if isinstance(value, str) else json.dumps(value)

    def _value(self, schema: dict[str, Any], depth: int) -> Any:
        """Of a schema; one in four is anything else."""
        chance = self._chance
        if depth > 6 or chance.random() < 0.25:
            return self._anything()
        if reference := schema.get("$ref"):
            return self._value(self._components[reference.rpartition("/")[2]], depth)
        for joined in ("oneOf", "anyOf", "allOf"):
            if joined in schema:
                return self._value(chance.choice(schema[joined]), depth)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type", "string")
        kind = chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            named = schema.get("properties", {})
            return {name: self._value(one, depth + 1) for name, one in named.items() if chance.random() < 0.8}
        if kind == "array":
            return [self._value(schema.get("items", {}), depth + 1) for _ in range(chance.choice((0, 1, 2, 5)))]
        if kind in ("integer", "number"):
            return chance.choice((*NUMBERS, schema.get("minimum", 1), schema.get("maximum", 100), 60, 600))
        if kind == "boolean":
            return chance.random() < 0.5
        return None if kind == "null" else self._text(schema.get("format"))

    def _text(self, form: str | None) -> str:
        chance = self._chance
        if form == "date-time" and chance.random() < 0.7:
            return f"20{chance.randrange(10, 40)}-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}T03:00:00Z"
        return chance.choice(TEXTS) if chance.random() < 0.7 else self._spoilt(chance.choice(TEXTS))

    def _anything(self) -> Any:
        chance = self._chance
        plain = (None, True, False, *NUMBERS, *TEXTS, *TEXTS)
        odd = ([], {}, [[]], [None], {"": ""}, {"a": {"b": []}}, ["x"] * 200, {"x": math.inf}, [{}] * 3)
        return chance.choice(plain) if chance.random() < 0.8 else chance.choice(odd)

    def _body(self, content: dict[str, Any] | None) -> bytes:
        chance = self._chance
        if content is None or chance.random() < 0.1:
            return chance.choice(RAW)
        known = self._example(content)
        if known is None or chance.random() < 0.4:
            document = self._value(content["schema"], 0)
        else:
            document = self._damaged(json.loads(json.dumps(known)))
        # With surrogates, as a text of JSON may hold half of a pair.
        body = json.dumps(document).encode()
        return body[: chance.randrange(len(body) + 1)] if chance.random() < 0.05 else body

    def _damaged(self, document: Any) -> Any:
        """None to three values of it are others, gone, or more."""
        for _ in range(self._chance.choice((0, 1, 1, 2, 3))):
            place, key = self._somewhere(document)
            if place is None:
                return self._anything()
            if isinstance(place, dict) and self._chance.random() < 0.25:
                del place[key]
            else:
                place[key] = self._anything()
        return document

    def _somewhere(self, document: Any) -> tuple[Any, Any]:
        place: Any = None
        key: Any = None
        while isinstance(document, (dict, list)) and document:
            place, key = (
                document,
                self._chance.choice(list(document) if isinstance(document, dict) else range(len(document))),
            )
            if self._chance.random() < 0.5:
                break
            document = place[key]
        return place, key

    def _spoilt(self, text: str) -> str:
        chance = self._chance
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice(("", "\0", "%", "é", text, chance.choice(TEXTS)[:50])) + text[at + 1 :]

    def _headers(self) -> dict[str, str]:
        chance, headers = self._chance, {"content-type": JSON_TYPE}
        if chance.random() < 0.1:
            headers["content-type"] = chance.choice(TYPES)
        if chance.random() < 0.2:
            headers["accept"] = chance.choice(ACCEPTS)
        for name in ("if-none-match", "accept-language", "x-forwarded-for", "origin", "referer", "range", "cookie"):
            if chance.random() < 0.03:
                headers[name] = chance.choice(TEXTS).encode(errors="replace").decode("latin-1")
        return headers


class FuzzedSite:
    """The known world, and somebody of each role. Whatever a call does is undone."""

    def __init__(self) -> None:
        from django.core.handlers.wsgi import WSGIHandler

        self._handler = WSGIHandler()
        self._sessions, self._tokens = _people()

    def answered(self, call: Call) -> tuple[int, str]:
        """The status, and how an error of the site reads. Raises whatever the site raises."""
        from django.core.handlers.wsgi import WSGIRequest
        from django.core.signals import got_request_exception
        from django.db import transaction

        raised: list[str] = []

        def note(**_sent: Any) -> None:
            raised.append(traceback.format_exc())

        got_request_exception.connect(note)
        try:
            with transaction.atomic():
                request = WSGIRequest(self._environ(call))
                request._dont_enforce_csrf_checks = call.role != "session with CSRF"  # type: ignore[attr-defined]
                answer = self._handler.get_response(request)
                body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[arg-type, attr-defined]
                transaction.set_rollback(True)
        finally:
            got_request_exception.disconnect(note)
        said = body[:2000].decode(errors="replace")
        # 503 is said where Redis or a worker is wanted: there is none.
        is_wrong = bool(raised) or (answer.status_code >= 500 and (answer.status_code != 503 or "The database" in said))
        return answer.status_code, "\n".join([said[:500], *raised]) if is_wrong else ""

    def _environ(self, call: Call) -> dict[str, Any]:
        body = call.body or b""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": call.method.upper(),
            "PATH_INFO": _unquoted(call.path),
            "QUERY_STRING": call.query,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            "wsgi.errors": sys.stderr,
        }
        for name, value in call.headers.items():
            environ["CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"] = value
        if call.role in self._tokens:
            environ["HTTP_AUTHORIZATION"] = f"Token {self._tokens[call.role]}"
        elif call.role in self._sessions:
            environ["HTTP_COOKIE"] = f"sessionid={self._sessions[call.role]}"
        return environ


def _unquoted(path: str) -> str:
    """As a server hands it on: its bytes as Latin-1."""
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(path).decode("latin-1")


def _people() -> tuple[dict[str, str], dict[str, str]]:
    """Keys of sessions and tokens, by role."""
    from django.contrib.auth.models import Group, User
    from django.test import Client

    from consumers.models import ApiToken
    from consumers.models.site import token_digest
    from tests.world import NOW, ago

    tokens = {}
    for role in (*ROLES, "expired"):
        user = User.objects.create_user(f"fuzzing-{role}")
        user.groups.add(Group.objects.get(name=role if role in ROLES else "admin"))
        tokens[role] = f"{role}-token"
        over = {"expires_at": ago(1)} if role == "expired" else {}
        ApiToken.objects.create(
            user=user, name="fuzz", digest=token_digest(tokens[role]), created_at=ago(60), last_used_at=NOW, **over
        )
    client = Client()
    client.force_login(User.objects.get(username="fuzzing-operator"))
    key = client.cookies["sessionid"].value
    return {"session": key, "session with CSRF": key}, tokens


def fuzz(site: FuzzedSite, calls: Calls, numbers: Sequence[int], *, most_seconds: float = MOST_SECONDS) -> Found:
    """Asks; complaints have all that it takes to ask again."""
    found, began = Found(), time.perf_counter()
    for number in numbers:
        call = calls.call(number)
        start = time.process_time()
        try:
            status, wrong = site.answered(call)
        except Exception:
            status, wrong = 599, traceback.format_exc()
        took = time.process_time() - start
        found.statuses[status] += 1
        if took > found.slowest[0]:
            found.slowest = took, str(call)
        if wrong or took > most_seconds:
            found.complaints.append(f"call {number}, {status} after {took:.2f} s: {call}\n{wrong}")
    found.seconds = time.perf_counter() - began
    return found


@contextmanager
def made_site() -> Iterator[FuzzedSite]:
    """A site of its own, in a folder that goes again."""
    with tempfile.TemporaryDirectory(prefix="consumerscope-fuzz-") as folder:
        os.environ |= {"CONSUMERSCOPE_HOME": folder, "DATABASE_URL": "sqlite://:memory:", "CONSUMERSCOPE_LAKE": folder}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "dashboard.settings", "REDIS_URL": f"unix://{folder}/nobody.sock"}
        import django

        django.setup()
        import logging

        import time_machine
        from django.core.management import call_command
        from django.test import override_settings

        from consumers.lake.store import Lake
        from tests.walk.world import a_known_world
        from tests.world import NOW

        # Each call that is refused is a line, and none of interest.
        logging.disable(logging.CRITICAL)
        with override_settings(**SETTINGS), time_machine.travel(NOW, tick=False), _one_connection():
            call_command("migrate", verbosity=0)
            a_known_world(Lake.at(folder))
            yield FuzzedSite()


# Nobody waits for a worker, which there is none of; the rate of one token is that of a person.
SETTINGS = {"RESET_PLAN_WAIT_SECONDS": 0, "API_RATE": 0, "ALLOWED_HOSTS": ["*"], "WHITENOISE_AUTOREFRESH": True}


@contextmanager
def _one_connection() -> Iterator[None]:
    """Of the database, which is in memory: it is to outlive each request."""
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections

    ends = (request_started, request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    try:
        yield
    finally:
        for end in ends:
            end.connect(close_old_connections)


def main(arguments: Sequence[str]) -> int:
    """COUNT and SEED; with FIRST as a third, calls from that number on."""
    count, seed, first = [int(said) for said in (*arguments, *("10000", "1", "0")[len(arguments) :])]
    with made_site() as site:
        calls, whole = Calls(seed), Found()
        for start in range(first, first + count, 5_000):
            part = fuzz(site, calls, range(start, min(start + 5_000, first + count)))
            whole.statuses += part.statuses
            whole.seconds += part.seconds
            whole.slowest = max(whole.slowest, part.slowest)
            whole.complaints += part.complaints
            print("\n\n".join(part.complaints), flush=True)
            print(f"up to {start + 5_000:,}: {whole}", flush=True)
    return 1 if whole.complaints else 0
