"""The REST API and its schema."""

from .environment import number, section

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
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
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
        "The consumer side of Apache RocketMQ. What is not known is null, with its reason beside it. Without `fields` "
        "an answer has all members that its schema lists."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "consumers.rest.schema.hooks.with_optional_members",
        "consumers.rest.schema.hooks.with_examples",
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
        "SilenceStatus": ["coming", "active", "past"],
        "State": "consumers.models.State",
        "SubjectKind": "consumers.models.SubjectKind",
        "TimeLagKind": "consumers.models.TimeLagKind",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
