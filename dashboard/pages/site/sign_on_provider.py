"""What the OpenID Connect provider is asked, and what is wrong with its answers.

Whatever is wrong becomes a `SignOnRefused`: one sentence for the person who signs in. No token is believed before its
signature, issuer, audience and time were checked.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt
import requests
from django.conf import settings
from django.utils.translation import gettext

from dashboard.wording.numbers import duration

CONNECT_SECONDS, ANSWER_SECONDS = 3, 5
AGAIN_SECONDS = 60
ALGORITHM = "RS256"
# Clocks of the provider and of this machine may differ by this much.
SKEW_SECONDS = 60
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class SignOnRefused(Exception):
    """str() is for the person who signs in.

    `status`: 503 where the provider cannot be asked, 429 where too many ask, else 403; with the first two, `wait` says
    in how many seconds to try again.
    """

    def __init__(self, why: str, status: int = 403, wait: int = AGAIN_SECONDS) -> None:
        super().__init__(why)
        self.status = status
        self.wait = wait


def too_many(wait: int) -> SignOnRefused:
    why = gettext("Could not sign in: too many sign-ins were begun from your address. Try again in %(wait)s.")
    return SignOnRefused(why % {"wait": duration(wait)}, 429, wait)


def unreachable(address: str) -> SignOnRefused:
    words = {"host": urlsplit(address).netloc}
    return SignOnRefused(gettext("Could not sign in: %(host)s does not answer. Try again later.") % words, 503)


def unreadable(address: str) -> SignOnRefused:
    return SignOnRefused(
        gettext(
            "Could not sign in: the answer of %(address)s cannot be read. Ask an administrator to check the issuer "
            "and the provider."
        )
        % {"address": address},
        503,
    )


def asked(address: str) -> dict[str, Any]:
    """The JSON object at an address of the provider."""
    try:
        answer = requests.get(address, timeout=(CONNECT_SECONDS, ANSWER_SECONDS))
    except requests.RequestException as error:
        raise unreachable(address) from error
    return object_of(answer, address)


def object_of(answer: requests.Response, address: str) -> dict[str, Any]:
    try:
        answer.raise_for_status()
        found = answer.json()
    except requests.HTTPError as error:
        raise (unreachable if answer.status_code >= 500 else unreadable)(address) from error
    except requests.RequestException as error:
        raise unreadable(address) from error
    if not isinstance(found, dict):
        raise unreadable(address)
    return found


def endpoints() -> dict[str, str]:
    """As the provider lists them, asked for at each sign-in."""
    issuer = settings.CONSUMERSCOPE_OIDC_ISSUER
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    found = asked(address)
    if found.get("issuer") != issuer:
        raise SignOnRefused(
            gettext(
                "Could not sign in: the provider calls itself “%(found)s”. Ask an administrator to set "
                "CONSUMERSCOPE_OIDC_ISSUER to that."
            )
            % {"found": found.get("issuer")},
            503,
        )
    listed = {name: found.get(name) for name in ENDPOINTS}
    if not all(isinstance(place, str) and is_as_safe(place, issuer) for place in listed.values()):
        raise unreadable(address)
    return {name: str(place) for name, place in listed.items()}


def is_as_safe(place: str, issuer: str) -> bool:
    """No code or secret goes over HTTP where the issuer has HTTPS."""
    scheme = urlsplit(place).scheme
    return scheme == "https" or scheme == urlsplit(issuer).scheme == "http"


def key_of(token: str, address: str) -> jwt.PyJWK:
    """The key that the token names, of those that the provider publishes."""
    keys = asked(address).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise unreadable(address)
    try:
        named = jwt.get_unverified_header(token).get("kid")
        known = jwt.PyJWKSet(keys).keys
    except jwt.InvalidTokenError as error:
        raise _invalid() from error
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        # What a key holds is decoded before anything of it is checked.
        raise unreadable(address) from error
    fits = [key for key in known if key.algorithm_name == ALGORITHM and named in (None, key.key_id)]
    if len(fits) != 1:
        raise SignOnRefused(
            gettext("Could not sign in: the provider does not publish the key of its token. Try again in some minutes.")
        )
    return fits[0]


def claims_of(token: str, key: Any) -> dict[str, Any]:
    """What a token says, once everything that makes it one for this site and this moment was checked."""
    client = settings.CONSUMERSCOPE_OIDC_CLIENT_ID
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=client,
            issuer=settings.CONSUMERSCOPE_OIDC_ISSUER,
            leeway=SKEW_SECONDS,
            options={"require": ["exp", "iat", "aud", "iss", "sub"]},
        )
    except jwt.InvalidAudienceError as error:
        raise _of_another_site() from error
    except jwt.InvalidIssuerError as error:
        raise SignOnRefused(
            gettext(
                "Could not sign in: the token is of another issuer. Ask an administrator to check "
                "CONSUMERSCOPE_OIDC_ISSUER."
            )
        ) from error
    except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError) as error:
        raise SignOnRefused(
            gettext(
                "Could not sign in: the token is not valid at this time. Ask an administrator to compare the clocks of "
                "this site and of the provider."
            )
        ) from error
    except jwt.PyJWTError as error:
        raise _invalid() from error
    if claims.get("azp", client) != client:
        raise _of_another_site()
    return claims


def refusal_of(parameters: Mapping[str, str]) -> SignOnRefused:
    """Of an answer with an error, as RFC 6749 has them. Only codes that it names are repeated."""
    code = parameters.get("error", "")
    if code in ("temporarily_unavailable", "server_error"):
        return unreachable(settings.CONSUMERSCOPE_OIDC_ISSUER)
    if code == "access_denied":
        return SignOnRefused(
            gettext("Could not sign in: the provider denied access. Ask its administrator for access.")
        )
    return SignOnRefused(
        gettext("Could not sign in: the provider refused the request. Ask an administrator to check the client there.")
    )


def not_accepted() -> SignOnRefused:
    return SignOnRefused(
        gettext(
            "Could not sign in: the provider did not accept the code. Try again; if that fails, ask an administrator "
            "to check the client's ID, secret and redirect address."
        )
    )


def not_begun_here() -> SignOnRefused:
    return SignOnRefused(gettext("Could not sign in: this sign-in did not begin in this browser. Try again."))


def _of_another_site() -> SignOnRefused:
    return SignOnRefused(
        gettext(
            "Could not sign in: the token is for another site. Ask an administrator to check "
            "CONSUMERSCOPE_OIDC_CLIENT_ID."
        )
    )


def _invalid() -> SignOnRefused:
    return SignOnRefused(
        gettext(
            "Could not sign in: the provider's token is not valid. Ask an administrator to check that tokens are "
            "signed with RS256."
        )
    )
