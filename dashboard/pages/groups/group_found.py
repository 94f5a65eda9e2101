"""The group that an address names, or a page that says it is not there."""

from django.http import Http404
from django.utils.translation import gettext as _

from consumers.models import ConsumerGroup
from consumers.queries.groups import find_group


def group_or_404(cluster: str, name: str) -> ConsumerGroup:
    group = find_group(cluster, name)
    if group is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": name, "cluster": cluster})
    return group
