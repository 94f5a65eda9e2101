"""What a channel looks like over REST, and what a request may say of one: secrets go in and never come out."""

from typing import Any

from rest_framework import serializers

from consumers.models import ChannelKind, Severity

from .alert_wishes import Labels, Scope, Text
from .bodies import Strict


class Secret(serializers.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, write_only=True, trim_whitespace=False, max_length=2_000, **options)


class Chosen(serializers.ListField):
    """Null is all of them. An empty list is refused: it would widen what the channel takes."""

    default_error_messages = {"empty": "Nothing is chosen: name one at least, or give null, for all."}

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_empty=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return [] if value is None else value


class ChannelWishSerializer(Strict):
    """Which of the address's fields a channel has depends on its kind, which never changes: docs/channels.md."""

    name = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(ChannelKind.choices)
    enabled = serializers.BooleanField(required=False, help_text="By default true")
    severities = Chosen(child=serializers.ChoiceField(Severity.choices), help_text="Null: all")
    cluster = Scope(max_length=100)
    group_pattern = Scope(max_length=255, help_text="With * and ?")
    labels = Labels()
    rules = Chosen(child=serializers.IntegerField(min_value=1), help_text="Their ids; null: all rules")
    title_template = Text(help_text="Of e-mail and apprise")
    body_template = Text(help_text="Of e-mail and apprise")
    tells_resolved = serializers.BooleanField(required=False, help_text="By default true")
    url = Secret(help_text="Of webhook, alertmanager and apprise")
    secret = Secret(help_text="Of webhook: it signs")
    headers = serializers.DictField(
        child=serializers.CharField(), required=False, write_only=True, help_text="Of webhook: sent along"
    )
    username = Secret(allow_blank=True, help_text="Of alertmanager")
    password = Secret(allow_blank=True, help_text="Of alertmanager")
    token = Secret(allow_blank=True, help_text="Of alertmanager, in place of a user name and password")
    recipients = serializers.ListField(
        child=serializers.CharField(), required=False, write_only=True, help_text="Of e-mail"
    )


# What a channel that replaces another need not say; of its address nothing is lost by saying nothing.
OPTIONAL = (
    *("enabled", "severities", "cluster", "group_pattern", "labels"),
    *("title_template", "body_template", "tells_resolved"),
)
