"""Who may come in, and what a page may load."""

from csp.constants import NONE, SELF

from .environment import flag, networks, number, section, words

section("Access", "How people reach the site. [Failed logins](access.md#too-many-failed-logins) are limited.")

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# People reach the site over HTTPS alone; a proxy in front of it may talk HTTP to it.
CONSUMERSCOPE_HTTPS = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = flag(
    "CONSUMERSCOPE_HTTPS",
    False,
    "1: people reach the site over HTTPS only, even if a proxy in front of it uses HTTP. Cookies "
    "require HTTPS, and browsers are told to use HTTPS (HSTS).",
)
_hsts_seconds = int(
    number("CONSUMERSCOPE_HSTS_SECONDS", 31536000, "How long browsers remember to use HTTPS only. 0 turns HSTS off.")
)
SECURE_HSTS_SECONDS = _hsts_seconds if CONSUMERSCOPE_HTTPS else 0
# Proxies whose word for a client's address is taken.
CONSUMERSCOPE_TRUSTED_PROXIES = networks(
    "CONSUMERSCOPE_TRUSTED_PROXIES",
    "Networks of the proxies in front of the site, separated by commas: `10.0.0.5,fd00::/8`. Their "
    "`X-Forwarded-For` gives the client's address for reset events and login limits.",
)
CSRF_TRUSTED_ORIGINS = words(
    "CONSUMERSCOPE_TRUSTED_ORIGINS", "", "Origins behind a proxy, with their scheme: `https://scope.example.com`."
)
CSRF_FAILURE_VIEW = "dashboard.pages.site.sent_forms.unsent"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Failed logins within so many seconds: of a user name from one address or browser, and of all names from one address.
LOGIN_WINDOW_SECONDS = int(
    number("LOGIN_WINDOW_SECONDS", 300, "The time over which failed logins are counted.", least=1)
)
LOGIN_FAILURES = int(
    number(
        "LOGIN_FAILURES",
        5,
        "Failed logins allowed for one user name from one address, or in one known browser.",
        least=1,
    )
)
LOGIN_ADDRESS_FAILURES = int(
    number(
        "LOGIN_ADDRESS_FAILURES",
        50,
        "Failed logins allowed for all user names from one address, and sign-ons begun there.",
        least=1,
    )
)

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}


# The REST API and its schema.

section("REST", "Limits of the [API](rest.md).")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "consumers.rest.access.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "consumers.rest.requests.Negotiation",
    "DEFAULT_THROTTLE_CLASSES": ["consumers.rest.access.RateLimit"],
    "DEFAULT_PARSER_CLASSES": ["consumers.rest.requests.JsonBody"],
    "DEFAULT_SCHEMA_CLASS": "consumers.rest.summaries.SummarizedSchema",
    "EXCEPTION_HANDLER": "consumers.rest.problems.problem_response",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
API_RATE = int(
    number("API_RATE", 1200, "Requests per minute for one token, or for one user with sessions. 0 means no limit.")
)
API_CSV_ROWS = int(number("API_CSV_ROWS", 50000, "A longer list is not answered as CSV.", least=1))

# What one answer or figure may hold of the past: windows, over all its queues. A point takes 1 kB and 30 µs.
HISTORY_POINTS = int(
    number(
        "HISTORY_POINTS",
        100000,
        "Queues × windows in one history answer or chart, 11,000 or more. A point takes 1 kB of memory.",
        least=11_000,
    )
)

SPECTACULAR_SETTINGS = {
    "TITLE": "Consumerscope",
    "DESCRIPTION": (
        "The consumer side of Apache RocketMQ. Unknown values are null, with their reason beside them. Without "
        "`fields`, an answer has all members that its schema lists."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "consumers.rest.schema.with_optional_members",
        "consumers.rest.schema.with_examples",
    ],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "ChannelKind": "consumers.models.ChannelKind",
        "DeliveryStatus": "consumers.models.DeliveryStatus",
        "GroupKind": "consumers.models.GroupKind",
        "HealthLevel": "consumers.models.HealthLevel",
        "IncidentEventKind": "consumers.models.IncidentEventKind",
        "IncidentStatus": "consumers.models.IncidentStatus",
        "PreviewStatus": "consumers.models.PreviewStatus",
        "TopicKind": "consumers.models.TopicKind",
        "ResendStatus": "consumers.models.ResendStatus",
        "ResetKind": "consumers.models.ResetKind",
        "ResetStatus": "consumers.models.ResetStatus",
        "Severity": "consumers.models.Severity",
        "FindingSeverity": ["critical", "warning", "unknown", "info"],
        "SilenceStatus": ["coming", "active", "past"],
        "State": "consumers.models.State",
        "SubjectKind": "consumers.models.SubjectKind",
        "TimeLagKind": "consumers.models.TimeLagKind",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
