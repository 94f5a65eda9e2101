"""Django's admin pages of users and groups, with an audit event for each change."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User

from .audit import Audited

admin.site.unregister([User, Group])


@admin.register(User)
class AuditedUserAdmin(Audited, UserAdmin):
    pass


@admin.register(Group)
class AuditedGroupAdmin(Audited, GroupAdmin):
    pass
