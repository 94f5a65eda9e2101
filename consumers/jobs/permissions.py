"""Who may do what on which cluster: by a role for all clusters, or by a role for that cluster.

Everybody who may log in sees every cluster. What a permission is asked for here acts on a cluster, or shows what its
messages hold. Clusters are asked for by name: nobody has a role for a name that no cluster is registered under.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from consumers.models import ClusterRole

# What the role operator does not have.
OF_ADMINS = {"consumers.manage_clusters"}


def may(user: Any, permission: str, cluster: str) -> bool:
    """Without a cluster, as of what covers several: whether the user may for all clusters."""
    return user.has_perm(permission) or permission in _by_cluster(user).get(cluster, ())


def may_somewhere(user: Any, permission: str) -> bool:
    """For all clusters, or for one at least."""
    return user.has_perm(permission) or any(permission in held for held in _by_cluster(user).values())


def user_may(user_id: int, permission: str, cluster: str) -> bool:
    """Read from the database, as a worker must: a request may be older. False for deleted and disabled users."""
    user = get_user_model()._default_manager.filter(pk=user_id).first()
    return user is not None and may(user, permission, cluster)


def why_not(user: Any, permission: str, cluster: str) -> str | None:
    """Null where `may`; else which role for which cluster is missing."""
    if may(user, permission, cluster):
        return None
    words = _words(permission) | {"cluster": cluster}
    if not cluster:
        return _("You need the role %(roles)s for all clusters (permission %(permission)s).") % words
    return (
        _("You need the role %(roles)s, for the cluster %(cluster)s or for all clusters (permission %(permission)s).")
        % words
    )


def why_nowhere(user: Any, permission: str) -> str | None:
    """Null where `may_somewhere`."""
    if may_somewhere(user, permission):
        return None
    words = _words(permission)
    return _("You need the role %(roles)s, for a cluster or for all clusters (permission %(permission)s).") % words


def check(user: Any, permission: str, cluster: str) -> None:
    """Raises PermissionDenied, which pages and REST answer with 403 and its sentence."""
    if against := why_not(user, permission, cluster):
        raise PermissionDenied(against)


def check_somewhere(user: Any, permission: str) -> None:
    """Before it is known which cluster is meant. Raises PermissionDenied."""
    if against := why_nowhere(user, permission):
        raise PermissionDenied(against)


def _words(permission: str) -> dict[str, str]:
    roles = "admin" if permission in OF_ADMINS else _("operator or admin")
    return {"roles": roles, "permission": permission}


def _by_cluster(user: Any) -> dict[str, set[str]]:
    """Permissions by the name of the cluster. One query, remembered with the user's row, as Django remembers those for
    all clusters: a request and a job read the user anew.
    """
    if not user.is_active or user.pk is None:
        return {}
    found: dict[str, set[str]] | None = getattr(user, "_permissions_by_cluster", None)
    if found is None:
        found = {}
        held = ("role__permissions__content_type__app_label", "role__permissions__codename")
        for cluster, app, codename in ClusterRole.objects.filter(user=user).values_list("cluster__name", *held):
            found.setdefault(cluster, set()).add(f"{app}.{codename}")
        user._permissions_by_cluster = found
    return found
