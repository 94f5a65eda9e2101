"""Who may change what alerts are made of, and why a change is refused."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

MAY_MANAGE = "consumers.manage_alerts"


def why_no_role() -> str:
    return _("Alerts are managed with the permission %s: the roles operator and admin have it.") % MAY_MANAGE


class AlertRefused(Exception):
    """`errors`: a sentence for each invalid field; the field "" stands for the request as a whole. Nothing was
    stored.
    """

    def __init__(self, errors: Mapping[str, str] | str) -> None:
        self.errors = {"": errors} if isinstance(errors, str) else dict(errors)
        super().__init__(" ".join(f"{name}: {said}" if name else said for name, said in self.errors.items()))
