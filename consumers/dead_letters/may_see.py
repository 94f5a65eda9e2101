"""Whether somebody may see bodies of messages, asked again by the worker that reads them."""

from django.contrib.auth import get_user_model

MAY_SEE = "consumers.view_message_body"
LOST = f"Bodies are for those with the permission {MAY_SEE}: whoever asked has it no more."


def may_see(user_id: int) -> bool:
    """False too for who is gone or switched off. Nothing that an earlier look remembers is believed."""
    user = get_user_model()._default_manager.filter(pk=user_id).first()
    return user is not None and user.has_perm(MAY_SEE)
