"""Topics and their queues, as the brokers configure them. Written by the poll only."""

from django.db import models

from .cluster import Cluster


class TopicKind(models.TextChoices):
    NORMAL = "normal"
    RETRY = "retry"
    DLQ = "dlq"
    SYSTEM = "system"


class Topic(models.Model):
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="topics")
    name = models.CharField(max_length=255)
    kind = models.CharField(max_length=10, choices=TopicKind)
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="one_row_per_topic")]

    def __str__(self) -> str:
        return self.name


class Queue(models.Model):
    """One queue of a topic on one broker name. `readable` and `writable` are null until its configuration was read."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="queues")
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()
    readable = models.BooleanField(null=True)
    writable = models.BooleanField(null=True)
    first_seen_at = models.DateTimeField(null=True, help_text="The reading that first saw it; null: it was not noted")
    readable_since = models.DateTimeField(null=True, help_text="The reading that saw `readable` become what it is")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "broker", "queue_id"], name="one_row_per_queue")]

    def __str__(self) -> str:
        return f"{self.topic_id}/{self.broker}/{self.queue_id}"
