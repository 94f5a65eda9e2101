"""`{% may "reset_offsets" group.cluster as may_reset %}`: whether the reader may do it on this cluster."""

from django import template

from consumers.jobs import permissions

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: template.Context, permission: str, cluster: str) -> bool:
    return permissions.may(context["user"], f"consumers.{permission}", cluster)
