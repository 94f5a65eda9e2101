"""What brokers themselves count of topics and groups. Written by the poll only."""

from django.db import models

from consumers.models.clusters import Cluster


class BrokerStatistic(models.Model):
    """A broker's counts of its last minute, as of `asked_at`: of a group's part of a topic, or of a topic (`group` "").

    Null: the broker has counted nothing of it, or did not answer for the reason in `error`.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="statistics")
    broker = models.CharField(max_length=255)
    topic = models.CharField(max_length=255)
    group = models.CharField(max_length=255, default="")
    bytes_per_second = models.FloatField(null=True, help_text="Stored of the topic, or delivered to the group")
    sent_back_messages = models.BigIntegerField(null=True, help_text="That members sent back; of a topic always null")
    error = models.TextField(null=True)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "broker", "topic", "group"], name="one_statistic_per_place")
        ]

    def __str__(self) -> str:
        return f"{self.topic}@{self.group}" if self.group else self.topic
