"""What a channel looks like over REST, and what a request may say of one: secrets go in and never come out."""

from typing import Any

from rest_framework import serializers

from consumers.models import ChannelKind, Severity

from .alert_fields import DeliverySerializer
from .alert_wishes import Labels, Scope, Text
from .reset_wishes import Strict


class ChannelSerializer(serializers.Serializer[Any]):
    """What is null takes everything, or is as `unknown` says. Its address and secrets are never answered."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(ChannelKind.choices)
    enabled = serializers.BooleanField()
    target = serializers.CharField(help_text="Where it goes, without anything that is secret")
    severities = serializers.ListField(
        child=serializers.ChoiceField(Severity.choices), allow_null=True, help_text="Null: all"
    )
    cluster = serializers.CharField(allow_null=True)
    group_pattern = serializers.CharField(allow_null=True)
    labels = serializers.DictField(child=serializers.CharField())
    rules = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True, help_text="Their ids; null: all rules"
    )
    selects = serializers.CharField(help_text="What it is told of, in words")
    title_template = serializers.CharField(allow_null=True)
    body_template = serializers.CharField(allow_null=True)
    tells_resolved = serializers.BooleanField()
    waiting = serializers.IntegerField(help_text="Messages that are to go")
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when nothing was taken: whatever fires is told to nobody through it"
    )
    failing_why = serializers.CharField(allow_null=True, help_text="What became of the newest try")
    held_until = serializers.DateTimeField(allow_null=True, help_text="Until then nothing but tests is sent")
    last_delivery = DeliverySerializer(allow_null=True)
    changed_at = serializers.DateTimeField()
    changed_by = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


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
