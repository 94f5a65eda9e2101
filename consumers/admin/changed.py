"""Admin pages of what people change: clusters, thresholds of groups, and tokens. Each change is an audit event.

`manage.py cluster remove` removes a cluster.
"""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from consumers.jobs.acts import note
from consumers.models import ApiToken, AuditAction, Cluster, ClusterRole, GroupThresholds
from consumers.polling.registration import (
    WrongOption,
    checked_addresses,
    checked_name,
    checked_name_servers,
    checked_offset_files,
    checked_tls,
    set_secret,
)
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.registration import OptionProblem
from consumers.words.registration import described, option_words

from .permissions import permission_words

# The mixin that makes an audit event of each change on an admin page; the pages of users and their groups.
# Django deletes its own log of a user's actions together with the user.
ACTIONS = {1: AuditAction.ADDED, 2: AuditAction.CHANGED, 3: AuditAction.DELETED}


class Audited(admin.ModelAdmin):
    """Records each entry of Django's log of actions as an audit event as well."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._noted(request, obj, super().log_addition(request, obj, message))

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._noted(request, obj, super().log_change(request, obj, message))

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for subject in queryset:
            note(subject, str(subject), request.user, "Deleted.", timezone.now(), AuditAction.DELETED)
        return super().log_deletions(request, queryset)

    def _noted(self, request: HttpRequest, subject: Model, entry: LogEntry) -> LogEntry:
        action = ACTIONS[entry.action_flag]
        note(subject, str(subject), request.user, entry.get_change_message(), entry.action_time, action)
        return entry


class ClusterRoleInline(admin.StackedInline):
    """Whoever may change users gives and takes them."""

    model = ClusterRole
    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("auth.view_user")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("auth.change_user")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("auth.change_user")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("auth.change_user")


class WordedPermissions(admin.ModelAdmin):
    """Lists permissions in words."""

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_manytomany(db_field, request, **kwargs)
        if db_field.related_model is Permission:
            field.label_from_instance = permission_words
        return field


class AuditedUserAdmin(WordedPermissions, Audited, UserAdmin):
    # The site notes them. As fields they would be four without a label.
    readonly_fields = ["last_login", "date_joined"]

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        """A user that is being added has a name and a password first."""
        return [] if obj is None else [ClusterRoleInline]


class AuditedGroupAdmin(WordedPermissions, Audited, GroupAdmin):
    """Permissions of roles."""


for model, page in ((User, AuditedUserAdmin), (Group, AuditedGroupAdmin)):
    admin.site.unregister(model)
    admin.site.register(model, page)


# The admin form accepts the same settings as the command line. Secrets can be entered but are never shown.

KEPT = _("Stored encrypted, never shown. Empty: the stored key stays. To remove it, clear the access key.")


class ClusterForm(forms.ModelForm):
    secret_key = forms.CharField(
        required=False,
        label=_("Secret key"),
        help_text=KEPT,
        widget=forms.PasswordInput(render_value=False),
    )
    use_tls = forms.BooleanField(required=False, label=_("TLS"))
    tls_ca = forms.CharField(
        required=False, label=_("TLS authorities"), help_text=_("A PEM file that the poll worker sees")
    )
    tls_certificate = forms.CharField(
        required=False, label=_("TLS certificate"), help_text=_("A PEM file, shown to name servers and brokers")
    )
    tls_key = forms.CharField(required=False, label=_("TLS key"), help_text=_("A PEM file without a passphrase"))
    tls_any_host = forms.BooleanField(
        required=False,
        label=_("Do not verify host names"),
        help_text=_("Accepts any host that the authorities vouch for."),
    )
    tls_skip_verify = forms.BooleanField(
        required=False, label=_("Do not verify certificates"), help_text=_("Accepts any certificate of any host.")
    )

    class Meta:
        model = Cluster
        fields = ["name", "namesrv", "access_key", "offset_files", "proxy"]
        labels = {"namesrv": _("Name servers"), "access_key": _("Access key"), "proxy": _("Proxies")}
        help_texts = {
            "namesrv": _("Addresses HOST:PORT, separated by ';'"),
            "offset_files": _("Globs of offset files, separated by ';'"),
            "proxy": _("Remoting addresses HOST:PORT of proxies, separated by ';'"),
        }
        widgets = {"offset_files": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Users with view permission only see none of these fields.
        for name in self.fields.keys() & {"access_key", "offset_files", "proxy"}:
            self.fields[name].required = False
        if (tls := self.instance.tls) is not None:
            self.initial.update({f"tls_{name}": tls[name] for name in ("ca", "certificate", "key")})
            self.initial.update({"use_tls": True, "tls_skip_verify": not tls["verify"]})
            self.initial["tls_any_host"] = tls.get("any_host", False)

    def clean_name(self) -> str:
        return self._checked(checked_name, "name")

    def clean_namesrv(self) -> str:
        return self._checked(checked_name_servers, "namesrv")

    def clean_offset_files(self) -> str:
        return self._checked(checked_offset_files, "offset_files")

    def clean_proxy(self) -> str:
        return self._checked(lambda text: checked_addresses("proxy", text), "proxy")

    def clean_access_key(self) -> str | None:
        return self.cleaned_data["access_key"] or None

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        access_key, secret_key = values.get("access_key"), values.get("secret_key")
        if secret_key and not access_key:
            self._add_problem("secret_key", OptionProblem.SECRET_KEY_ALONE)
        if access_key and not secret_key and access_key != self.initial.get("access_key"):
            self._add_problem("secret_key", OptionProblem.ACCESS_KEY_ALONE)
        files = {name: values.get(f"tls_{name}") for name in ("ca", "certificate", "key")}
        self.instance.tls = None
        if values.get("use_tls"):
            try:
                checks = {"verify": not values.get("tls_skip_verify"), "any_host": values.get("tls_any_host")}
                self.instance.tls = checked_tls({**files, **checks})
            except WrongOption as error:
                self.add_error(error.option, option_words(str(error)))
        elif any(files.values()) or values.get("tls_skip_verify") or values.get("tls_any_host"):
            self._add_problem("use_tls", OptionProblem.TLS_NOT_CHOSEN)
        return values

    def save(self, commit: bool = True) -> Any:
        access_key, secret_key = self.cleaned_data["access_key"], self.cleaned_data["secret_key"]
        if not access_key:
            self.instance.sealed_secret = None
        elif secret_key:
            set_secret(self.instance, access_key, secret_key, settings.SECRET_KEY)
        return super().save(commit)

    def _add_problem(self, field: str, problem: OptionProblem) -> None:
        self.add_error(field, option_words(stored_reason(problem)))

    def _checked(self, check: Callable[[str], str], field: str) -> str:
        try:
            return check(self.cleaned_data[field])
        except WrongOption as error:
            raise forms.ValidationError(option_words(str(error))) from None


@admin.register(Cluster)
class ClusterAdmin(Audited):
    form = ClusterForm
    fieldsets = [
        (None, {"fields": ["name", "namesrv"]}),
        (_("Access control"), {"fields": ["access_key", "secret_key"]}),
        (_("TLS"), {"fields": ["use_tls", "tls_ca", "tls_any_host", "tls_certificate", "tls_key", "tls_skip_verify"]}),
        (_("Other sources"), {"fields": ["proxy", "offset_files"]}),
    ]
    list_display = ["name", "namesrv", "options", "created_at"]

    @admin.display(description=_("options"))
    def options(self, cluster: Cluster) -> str:
        return ", ".join(described(cluster)) or gettext("none")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_change_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_delete_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Cluster | None = None) -> Any:
        """Users with view permission only see the registered values: the form's own fields are not columns of a
        cluster.
        """
        if self.has_change_permission(request, obj):
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": self.list_display})]

    def get_readonly_fields(self, request: HttpRequest, obj: Cluster | None = None) -> list[str]:
        """The name of a cluster is read-only: its history in the lake is stored under that name."""
        return ["name"] if obj is not None else []

    def save_model(self, request: HttpRequest, obj: Cluster, form: Any, change: bool) -> None:
        if not change:
            obj.created_at = timezone.now()
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Cluster, post_url_continue: str | None = None) -> Any:
        """Leads to the test of its connection."""
        super().response_add(request, obj, post_url_continue)
        return HttpResponseRedirect(reverse("connection", args=(obj.name,)))


class GroupThresholdsForm(forms.ModelForm):
    class Meta:
        help_texts = {
            "allowance_seconds": _("A time lag up to this is OK. Empty: CONSUMERSCOPE_ALLOWANCE_SECONDS."),
            "behind_seconds": _(
                "A time lag above this that does not drain is WARN. Empty: CONSUMERSCOPE_BEHIND_SECONDS."
            ),
        }


@admin.register(GroupThresholds)
class GroupThresholdsAdmin(Audited):
    """Thresholds of single groups; users who manage alerts change them."""

    form = GroupThresholdsForm
    list_display = ["group", "allowance_seconds", "behind_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
    # A site may have 10,000 groups, so the field is a search and not a list.
    raw_id_fields = ["group"]


@admin.register(ApiToken)
class ApiTokenAdmin(Audited):
    """Shown without their digest; deleting one revokes it. `manage.py token create` makes them."""

    list_display = ["name", "user", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["user"]
    exclude = ["digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False
