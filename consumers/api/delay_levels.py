"""What GET clusters/ says of the delay levels of each broker."""

from typing import Any

from rest_framework import serializers


class LevelSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField()
    delay_seconds = serializers.FloatField(allow_null=True)
    backlog = serializers.IntegerField(allow_null=True, help_text="Messages of all groups")
    next_due_at = serializers.DateTimeField(allow_null=True, help_text="Null too where nothing waits")
    overdue_seconds = serializers.FloatField(
        allow_null=True, help_text="How long before the newest reading its first message should have come, at least"
    )
    unknown = serializers.DictField(child=serializers.CharField())


class BrokerLevelsSerializer(serializers.Serializer[Any]):
    """Where failed messages wait for their next try, delayed ones of applications among them."""

    broker = serializers.CharField()
    configured = serializers.IntegerField(allow_null=True, help_text="How many levels it has")
    backlog = serializers.IntegerField(allow_null=True, help_text="Messages of all levels")
    read_at = serializers.DateTimeField(allow_null=True)
    levels = LevelSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())
