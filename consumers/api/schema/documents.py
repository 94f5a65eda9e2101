"""The schema and its page. Swagger UI styles itself inline, so that its page has a policy of its own."""

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated

schema = SpectacularAPIView.as_view(permission_classes=[IsAuthenticated])
page = csp_update({"style-src": [SELF, UNSAFE_INLINE], "img-src": [SELF, "data:"]})(
    SpectacularSwaggerSplitView.as_view(
        url_name="schema",
        permission_classes=[IsAuthenticated],
        # What DRF answers to OPTIONS has no template, and would be an error of the server.
        http_method_names=["get", "head"],
    )
)
