"""The login page: passwords, the provider of the sign-on, or both."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext

from .login import login_context, takes_passwords


class LoginPage(LoginView):
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Without passwords, who is led here from a page is led on. Who logged out sees the page: else a click on Log
        out would sign in again."""
        if not takes_passwords() and (page := request.GET.get("next")):
            return HttpResponseRedirect(f"{reverse('sign_on')}?{urlencode({'next': page})}")
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not takes_passwords():
            words = {"name": settings.CONSUMERSCOPE_OIDC_NAME}
            raise PermissionDenied(gettext("This site takes no passwords. Sign in with %(name)s.") % words)
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**more) | login_context()
