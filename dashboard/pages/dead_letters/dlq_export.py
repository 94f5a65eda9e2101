"""Dead letters as a file: what the list's filters choose, of all that the brokers hold."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from consumers.dead_letters.exports.stream import ExportFailed, ExportFormat, ExportWanted
from consumers.dead_letters.inspection import MAY_SEE
from consumers.dead_letters.queries.filters import WrongFilter, all_filters_of
from consumers.dead_letters.rest import export_response
from consumers.queries.groups import find_group
from dashboard.pages.site.problems import UnknownFilter

BODIES = {"": False, "0": False, "1": True}


@require_GET
@never_cache
@login_required
def dlq_export(request: HttpRequest, cluster: str, group: str) -> HttpResponseBase:
    """Not for HEAD: an export costs the worker the same without its lines."""
    if find_group(cluster, group) is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": group, "cluster": cluster})
    try:
        wanted = _wanted(request, cluster, group)
    except WrongFilter as error:
        return render(request, "400.html", {"sentence": str(error)}, status=400)
    if wanted.with_bodies and not request.user.has_perm(MAY_SEE):
        raise PermissionDenied
    try:
        return export_response(request.user, wanted)
    except ExportFailed as error:
        return render(request, "400.html", {"sentence": str(error)}, status=503)


def _wanted(request: HttpRequest, cluster: str, group: str) -> ExportWanted:
    format, bodies = request.GET.get("format", ExportFormat.CSV), request.GET.get("bodies", "")
    if format not in list(ExportFormat):
        raise UnknownFilter("format", format, ExportFormat)
    if bodies not in BODIES:
        raise UnknownFilter("bodies", bodies, ["0", "1"])
    said = {name: text for name, text in request.GET.dict().items() if name not in ("format", "bodies")}
    return ExportWanted(cluster, group, ExportFormat(format), BODIES[bodies], all_filters_of(said))
