"""Sign-on with one OpenID Connect provider. Without an issuer there is none, and nothing of it is loaded."""

import re
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from .environment import flag, number, section, text, words

section("Sign-on", "People [sign in](access.md#sign-on) with an OpenID Connect provider. Off without an issuer.")

ROLES_OF_GROUPS = ("viewer", "operator", "admin")
# Everybody who may log in sees every cluster: viewer of one would say nothing.
ROLES_OF_CLUSTERS = ("operator", "admin")
# Names of groups and of clusters may hold `=` and `@`: the last `=` with a role behind it counts.
GRANT = re.compile(rf"(?P<group>.+)=(?P<role>{'|'.join(ROLES_OF_GROUPS)})(?:@(?P<cluster>.+))?")

CONSUMERSCOPE_OIDC_ISSUER = text(
    "CONSUMERSCOPE_OIDC_ISSUER",
    "",
    "The issuer, exactly as its tokens name it: `https://sso.example.org/realms/ops`. Its endpoints are read from "
    "`/.well-known/openid-configuration` below it. It must be HTTPS, except on this machine.",
)
CONSUMERSCOPE_OIDC_CLIENT_ID = text(
    "CONSUMERSCOPE_OIDC_CLIENT_ID", "", "The client that the provider knows this site as."
)
CONSUMERSCOPE_OIDC_CLIENT_SECRET = text("CONSUMERSCOPE_OIDC_CLIENT_SECRET", "", "The secret of that client.")
CONSUMERSCOPE_OIDC_NAME = text("CONSUMERSCOPE_OIDC_NAME", "SSO", "What the button calls it: Sign in with `SSO`.")
CONSUMERSCOPE_OIDC_GROUPS_CLAIM = text(
    "CONSUMERSCOPE_OIDC_GROUPS_CLAIM", "groups", "The claim of the ID token that lists a person's groups."
)
CONSUMERSCOPE_OIDC_SESSION_MINUTES = number(
    "CONSUMERSCOPE_OIDC_SESSION_MINUTES",
    60,
    "For so long a session is good without the provider: each page opened in its second half asks the provider again. "
    "Whoever was removed there is out after this time at the latest.",
    least=2,
)
CONSUMERSCOPE_OIDC_TOKEN_DAYS = number(
    "CONSUMERSCOPE_OIDC_TOKEN_DAYS",
    30,
    "For so long after their last sign-in a person's API tokens work. Tokens of other users are not limited by it.",
    least=1 / 24,
)
CONSUMERSCOPE_OIDC_PASSWORDS = flag(
    "CONSUMERSCOPE_OIDC_PASSWORDS",
    True,
    "0: nobody logs in with a password, nor on the admin pages. Whoever opens a page goes to the provider at once.",
)


def _roles(pairs: list[str]) -> dict[str, frozenset[tuple[str, str]]]:
    """Roles by group of the provider, each with the cluster that it is for, or "" for all."""
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for pair in pairs:
        match = GRANT.fullmatch(pair)
        if match is None or (match["cluster"] and match["role"] not in ROLES_OF_CLUSTERS):
            raise ImproperlyConfigured(
                f"CONSUMERSCOPE_OIDC_ROLES must be as sre=operator,dev=operator@staging,everyone=viewer, not {pair!r}: "
                f"roles are {', '.join(ROLES_OF_GROUPS)}, and of a cluster {', '.join(ROLES_OF_CLUSTERS)}."
            )
        found[match["group"]] = found.get(match["group"], frozenset()) | {(match["role"], match["cluster"] or "")}
    return found


CONSUMERSCOPE_OIDC_ROLES = _roles(
    words(
        "CONSUMERSCOPE_OIDC_ROLES",
        "",
        "Which role members of a group have, separated by commas: `sre=operator,everyone=viewer`; for one cluster "
        "`dev=operator@staging`. A group may be named several times. Who is in none of these groups cannot sign in.",
    )
)
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def _check() -> None:
    missing = [
        name
        for name, given in (
            ("CONSUMERSCOPE_OIDC_CLIENT_ID", CONSUMERSCOPE_OIDC_CLIENT_ID),
            ("CONSUMERSCOPE_OIDC_CLIENT_SECRET", CONSUMERSCOPE_OIDC_CLIENT_SECRET),
            ("CONSUMERSCOPE_OIDC_ROLES", CONSUMERSCOPE_OIDC_ROLES),
        )
        if not given
    ]
    if missing:
        raise ImproperlyConfigured(f"CONSUMERSCOPE_OIDC_ISSUER needs {', '.join(missing)}.")
    parts = urlsplit(CONSUMERSCOPE_OIDC_ISSUER)
    if not parts.hostname or not (parts.scheme == "https" or parts.hostname in THIS_MACHINE):
        raise ImproperlyConfigured(
            f"CONSUMERSCOPE_OIDC_ISSUER must begin with https://, not {CONSUMERSCOPE_OIDC_ISSUER!r}."
        )


if CONSUMERSCOPE_OIDC_ISSUER:
    _check()
    AUTHENTICATION_BACKENDS = [
        *(["django.contrib.auth.backends.ModelBackend"] if CONSUMERSCOPE_OIDC_PASSWORDS else []),
        "dashboard.pages.site.sign_on.SignOnBackend",
    ]
