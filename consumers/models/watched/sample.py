"""What is too dear to be asked at every reading: answers of brokers about single queues. Written by the poll only."""

from django.db import models

from .group import ConsumerGroup
from .topic import Queue


class QueueSample(models.Model):
    """A broker's answers about one queue of one group; `offset` is the consumer offset that they belong to.

    `first_stored_at`: when the first unconsumed message was stored, by the broker's clock. `start_offset`: where a
    member would start on a queue without an offset (`offset` null), by `start_rule`. A null has its error beside it.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="samples")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="samples")
    offset = models.BigIntegerField(null=True)
    first_stored_at = models.DateTimeField(null=True)
    first_error = models.TextField(null=True)
    start_offset = models.BigIntegerField(null=True)
    start_rule = models.CharField(max_length=200, null=True)
    start_error = models.TextField(null=True)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "queue"], name="one_sample_per_group_and_queue")]


class TagSample(models.Model):
    """How many of the next messages of a topic a group's tag expression lets through, from its consumer offset on."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="tag_samples")
    topic = models.CharField(max_length=255)
    expression = models.TextField()
    looked_at = models.IntegerField()
    matching = models.IntegerField()
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "topic"], name="one_tag_sample_per_group_and_topic")]
