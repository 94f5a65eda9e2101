"""Every error of the API as an RFC 9457 problem document."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from .refusals import Refused


class TooLong(APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request's body is longer than this site takes: ask for less at once."


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, RequestDataTooBig):
        # Django's own answer is a page.
        error = TooLong()
    response = exception_handler(error, context)
    if response is None:
        return None
    problem: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(response.status_code).phrase,
        "status": response.status_code,
    }
    if isinstance(error, ValidationError):
        problem["detail"] = "Some parameters are not valid."
        problem["errors"] = response.data
    else:
        problem["detail"] = str(response.data.get("detail", error))
    if isinstance(error, Refused):
        problem |= error.beside
    response.data = problem
    response.content_type = "application/problem+json"
    return response
