"""Addresses of the pages of alert rules, and of what a rule would have done."""

from django.urls import path

from . import alert_preview, alert_rule

RULE = "alerts/rules/<int:rule>/"
PREVIEW = "alerts/previews/<uuid:preview>/"

urlpatterns = [
    path("alerts/rules/", alert_rule.alert_rules, name="alert_rules"),
    path("alerts/rules/add/", alert_rule.alert_rule_add, name="alert_rule_add"),
    path(RULE, alert_rule.alert_rule, name="alert_rule"),
    path(f"{RULE}remove/", alert_rule.alert_rule_remove, name="alert_rule_remove"),
    path("alerts/previews/", alert_preview.alert_previews, name="alert_previews"),
    path(PREVIEW, alert_preview.alert_preview, name="alert_preview"),
    path(f"{PREVIEW}part/", alert_preview.alert_preview_part, name="alert_preview_part"),
    path(f"{PREVIEW}cancel/", alert_preview.alert_preview_cancel, name="alert_preview_cancel"),
]
