"""Problems: what cannot be answered, as RFC 9457 documents."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import JsonResponse
from django.utils.translation import gettext, gettext_lazy
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, Throttled, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from consumers.jobs.acts import ActRefused
from consumers.jobs.asking import Answer, RedisDown, worker_silent
from consumers.models import Cluster, ConsumerGroup
from consumers.queries.groups import find_group
from consumers.queries.windows import RangeError


class Refused(APIException):
    """The request is refused at present; the same request may be allowed later. `beside`: further members of the
    problem document."""

    status_code: int = status.HTTP_409_CONFLICT

    def __init__(self, sentence: str, **members: Any) -> None:
        super().__init__(sentence)
        self.beside = members


class NotNow(Refused):
    """Something that it needs does not answer."""

    status_code: int = status.HTTP_503_SERVICE_UNAVAILABLE


Result = TypeVar("Result")


def answered(answer: Answer[Result] | None, patience: timedelta) -> Result:
    """What the general worker found, after `patience`. Raises NotNow."""
    if answer is None or answer.result is None:
        raise NotNow((answer and answer.reason) or worker_silent(patience))
    return answer.result


def refuse_unknown(cluster: str | None, group: str | None) -> None:
    """Raises NotFound where a filter names a cluster, or a group of it or of any cluster, that does not exist."""
    clusters, groups = Cluster.objects.all(), ConsumerGroup.objects.all()
    if cluster is not None:
        clusters, groups = clusters.filter(name=cluster), groups.filter(cluster__name=cluster)
    is_known = cluster is None or clusters.exists() if group is None else groups.filter(name=group).exists()
    if not is_known:
        raise group_missing(cluster, group or "")


def group_missing(cluster: str | None, group: str) -> NotFound:
    words = {"cluster": repr(cluster), "group": repr(group)}
    if cluster is None:
        return NotFound(gettext("There is no group %(group)s.") % words)
    if not Cluster.objects.filter(name=cluster).exists():
        return NotFound(gettext("There is no cluster %(cluster)s.") % words)
    return NotFound(gettext("There is no group %(group)s in cluster %(cluster)s.") % words)


def found_group(cluster: str, group: str) -> ConsumerGroup:
    """Raises NotFound."""
    found = find_group(cluster, group)
    if found is None:
        raise group_missing(cluster, group)
    return found


PROBLEM = "application/problem+json"
# A request names the ends of a range by words that Python has taken.
PUBLIC = {"since": "from", "until": "to"}


class TooLong(APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_detail = gettext_lazy("The body of the request is longer than the site accepts. Ask for less at once.")


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """None for an error of ours: server_error answers it, once it is logged with its traceback."""
    error = _as_problem(error)
    response = exception_handler(error, context)
    if response is None:
        return None
    errors = response.data
    response.data = _problem(response.status_code, _detail(error, errors))
    if isinstance(error, ValidationError):
        response.data["errors"] = errors
    if isinstance(error, Refused):
        response.data |= error.beside
    response.content_type = PROBLEM
    # A problem is JSON, whatever the answer would have been.
    request = context["request"]
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), PROBLEM
    return response


def _as_problem(error: Exception) -> Exception:
    """What our own code raises, as REST answers it."""
    match error:
        case RequestDataTooBig():
            # Django's own answer is a page.
            return TooLong()
        case RangeError():
            return ValidationError({error.parameter: [str(error)]})
        case RedisDown():
            return NotNow(str(error))
        case ActRefused() if error.errors and "" not in error.errors:
            errors = {PUBLIC.get(name, name): sentences for name, sentences in error.errors.items()}
            return ValidationError({name: [one] if isinstance(one, str) else list(one) for name, one in errors.items()})
        case ActRefused():
            return Refused(str(error))
    return error


def plain_problem(status: int, detail: str) -> JsonResponse:
    """Of a request that no resource was found for, or whose resource failed."""
    return JsonResponse(_problem(status, detail), status=status, content_type=PROBLEM)


def _problem(status: int, detail: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}


def _detail(error: Exception, errors: Any) -> str:
    if isinstance(error, ValidationError):
        return gettext("Some parameters are not valid.")
    if isinstance(error, Throttled):
        most, wait = f"{settings.API_RATE:,}", f"{error.wait:.0f}"  # type: ignore[attr-defined]
        return gettext("More than %(most)s requests in a minute. Try again in %(wait)s s.") % {
            "most": most,
            "wait": wait,
        }
    return str(errors.get("detail", error))


@extend_schema(exclude=True)
class AbsentView(APIView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(
            gettext("There is no %(path)s. See /api/docs/ or /api/schema/ for what there is.") % {"path": request.path}
        )
