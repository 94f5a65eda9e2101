"""A provider of OpenID Connect on the loopback: discovery, keys, and tokens that are really signed."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from jwt.algorithms import RSAAlgorithm

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLIENT = "consumerscope"
DISCOVERY, AUTHORIZE, KEYS, TOKEN = "/.well-known/openid-configuration", "/authorize", "/keys", "/token"


@dataclass
class OidcProvider:
    """`claims` are added to those of a good token; None takes a claim away. `signed_with`: the key of tokens.

    `answers`: by path what is answered in place of the usual, a status and a document or bytes.
    """

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""
    signed_with: rsa.RSAPrivateKey = KEY
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def token(self) -> str:
        now = int(time.time())
        good = {"iss": self.issuer, "aud": CLIENT, "sub": "f3a1", "iat": now, "exp": now + 60, "nonce": self.nonce}
        good |= {"preferred_username": "ann", "email": "ann@example.org"}
        said = {name: value for name, value in {**good, **self.claims}.items() if value is not None}
        return jwt.encode(said, self.signed_with, "RS256", headers={"kid": "one"})

    def usual(self) -> dict[str, dict[str, Any]]:
        return {
            DISCOVERY: {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}{AUTHORIZE}",
                "token_endpoint": f"{self.issuer}{TOKEN}",
                "jwks_uri": f"{self.issuer}{KEYS}",
            },
            KEYS: {"keys": [{**RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one", "alg": "RS256"}]},
            TOKEN: {"id_token": self.token(), "access_token": "access", "token_type": "Bearer"},
        }

    def answer(self, path: str) -> tuple[int, bytes]:
        status, found = self.answers.get(path) or (200, self.usual()[path])
        return status, found if isinstance(found, bytes) else json.dumps(found).encode()


@contextmanager
def an_oidc_provider() -> Iterator[OidcProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == AUTHORIZE:
                self.authorize({name: values[0] for name, values in parse_qs(parts.query).items()})
                return
            status, body = provider.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def authorize(self, wanted: dict[str, str]) -> None:
            """Whoever comes is logged in here already."""
            provider.nonce = wanted["nonce"]
            query = urlencode({"code": "code", "state": wanted["state"]})
            self.send_response(302)
            self.send_header("Location", f"{wanted['redirect_uri']}?{query}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            provider.asked.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Nothing is written of a request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = OidcProvider(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def configure(settings: Any, provider: OidcProvider) -> None:
    settings.CONSUMERSCOPE_OIDC_ISSUER = provider.issuer
    settings.CONSUMERSCOPE_OIDC_CLIENT_ID = CLIENT
    settings.CONSUMERSCOPE_OIDC_CLIENT_SECRET = "secret"
    settings.CONSUMERSCOPE_OIDC_ROLES = {"sre": {("operator", "")}, "all": {("viewer", "")}, "root": {("admin", "")}}
    settings.AUTHENTICATION_BACKENDS = [
        "django.contrib.auth.backends.ModelBackend",
        "dashboard.pages.site.sign_on.SignOnBackend",
    ]


def without_passwords(settings: Any) -> None:
    settings.CONSUMERSCOPE_OIDC_PASSWORDS = False
    settings.AUTHENTICATION_BACKENDS = settings.AUTHENTICATION_BACKENDS[1:]


def begun(client: Client, page: str = "") -> dict[str, str]:
    """What the provider is asked when somebody signs on, to see a page."""
    address = client.get("/sign-on/", {"next": page} if page else {}).headers["Location"]
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def sign_on(client: Client, provider: OidcProvider, page: str = "", **claims: Any) -> Any:
    """From the button to what is answered to the provider's redirect."""
    asked = begun(client, page)
    provider.nonce, provider.claims = asked["nonce"], claims
    return client.get("/sign-on/callback/", {"code": "code", "state": asked["state"]})
