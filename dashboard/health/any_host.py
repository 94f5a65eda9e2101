"""Health checks are answered under any host name: probes ask an address, which nobody lists as a name of the site."""

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

PROBED = ("/healthz", "/readyz")


class CommonForAnyProbe(CommonMiddleware):
    """Django's own refuses names that ALLOWED_HOSTS lacks. These answers hold no address of the site."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path_info in PROBED else super().process_request(request)
