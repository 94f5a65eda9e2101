"""Clusters, brokers, topics, queues, the record of readings and pipeline runs, and counts of brokers."""

from django.db import models


# A cluster and its brokers. Written by the `cluster` command and by the poll.
class Cluster(models.Model):
    name = models.CharField(max_length=100, unique=True)
    namesrv = models.CharField(max_length=500, help_text="Name server addresses, host:port, separated by ';'")
    access_key = models.CharField(max_length=200, null=True)
    sealed_secret = models.TextField(null=True, help_text="The secret key, encrypted under the site's own key")
    tls = models.JSONField(null=True, help_text="{ca, certificate, key, verify}: paths, and a truth; null: plain")
    offset_files = models.TextField(default="", help_text="Globs of offset files, separated by ';'")
    client_logs = models.TextField(default="", help_text="Globs of clients' logs, [ZONE=]GLOB, separated by ';'")
    broker_logs = models.TextField(default="", help_text="Globs of brokers' logs, [ZONE=]GLOB, separated by ';'")
    proxy = models.CharField(max_length=500, default="", help_text="Proxies' remoting addresses, separated by ';'")
    created_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True, help_text="When its brokers and offset files were last checked")

    class Meta:
        ordering = ["name"]
        permissions = [("manage_clusters", "Can add, change and remove clusters")]

    def __str__(self) -> str:
        return self.name

    @property
    def name_servers(self) -> list[str]:
        return [address for address in self.namesrv.split(";") if address]

    @property
    def proxies(self) -> list[str]:
        return [address for address in self.proxy.split(";") if address]


class Broker(models.Model):
    """One broker process as the name server lists it; `broker_id` 0 is the master.

    `last_read_at` is when its offsets were last read whole: every queue on it is as old as that.
    `failing_since` is null while the newest reading of it was good. `read_from` names the slave that answered in the
    place of a master that did not, and is null otherwise. What its configuration says is as of `config_at`.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="brokers")
    name = models.CharField(max_length=255)
    broker_id = models.BigIntegerField()
    address = models.CharField(max_length=255)
    version = models.CharField(max_length=50, null=True)
    cluster_name = models.CharField(
        max_length=255, null=True, help_text="brokerClusterName: what RocketMQ itself calls the broker's cluster"
    )
    reachable = models.BooleanField(null=True)
    last_read_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    read_from = models.CharField(max_length=255, null=True)
    error = models.TextField(null=True)
    file_reserved_hours = models.IntegerField(null=True, help_text="How long it keeps messages")
    delete_when = models.CharField(
        max_length=100, null=True, help_text="Hours of its day at which it deletes, as 04;16"
    )
    disk_max_used_percent = models.IntegerField(null=True, help_text="Above this use of its disk it deletes sooner")
    permission = models.IntegerField(null=True, help_text="A sum of 4 (read) and 2 (write)")
    delay_levels = models.CharField(max_length=1000, null=True, help_text="Its messageDelayLevel, as 1s 5s 10s")
    flush_offsets_ms = models.BigIntegerField(null=True, help_text="How often it writes its offsets to its file")
    config_at = models.DateTimeField(null=True)
    config_error = models.TextField(null=True)
    routed_permission = models.IntegerField(
        null=True, help_text="What name servers tell clients that it allows; they can be told to take writing away"
    )
    routed_at = models.DateTimeField(null=True)
    routed_error = models.TextField(null=True)
    dispatch_behind_bytes = models.BigIntegerField(
        null=True, help_text="Of its commit log, what consume queues did not have yet when it was last read"
    )
    dispatch_error = models.TextField(null=True)
    delays_at = models.DateTimeField(null=True, help_text="When its delay levels were last read")
    delays_error = models.TextField(null=True)
    wheel = models.JSONField(null=True, help_text="{retry topic: messages} that wait in its timer wheel")
    wheel_at = models.DateTimeField(null=True)
    wheel_error = models.TextField(null=True)

    class Meta:
        ordering = ["cluster", "name", "broker_id"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name", "broker_id"], name="one_row_per_broker")]

    def __str__(self) -> str:
        return f"{self.name}:{self.broker_id}"


# Topics and their queues, as the brokers configure them. Written by the poll only.
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


# The record of what was done: readings of clusters and runs of the pipeline, with cost and failures.
class Reading(models.Model):
    """One poll of one cluster. `complete` is true when every broker was read completely."""

    # Of readings that read no broker; the history has nothing of them.
    READ_NOTHING = models.Q(complete=False, queues=0)

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="readings")
    taken_at = models.DateTimeField()
    complete = models.BooleanField()
    brokers = models.JSONField(default=list, help_text="[{name, read, error}]")
    error = models.TextField(null=True, help_text="Why the list of brokers, or anything at all, was not read")
    queues = models.IntegerField()
    calls = models.IntegerField()
    bytes = models.BigIntegerField()
    seconds = models.FloatField()
    record_seconds = models.FloatField(null=True)
    members = models.JSONField(default=dict, help_text="{groups_read, clients_read, calls, seconds}")

    class Meta:
        ordering = ["-taken_at"]
        constraints = [models.UniqueConstraint(fields=["cluster", "taken_at"], name="one_reading_at_a_time")]
        indexes = [
            models.Index(fields=["cluster", "taken_at"], condition=models.Q(complete=False), name="partial_readings")
        ]


class PipelineRun(models.Model):
    """One run of the pipeline over [since, until). `error` is null when it succeeded, `finished_at` while it runs."""

    since = models.DateTimeField()
    until = models.DateTimeField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    queues_judged = models.IntegerField(null=True)
    groups_judged = models.IntegerField(null=True)
    error = models.TextField(null=True)
    newest_reading = models.BigIntegerField(null=True, help_text="The key of the newest reading that it knew of")
    skipped = models.BooleanField(default=False, help_text="Nothing was done, as there was no new reading")

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            # All that is asked of the thousands of a day.
            models.Index(
                fields=["until", "since"],
                condition=models.Q(error=None, finished_at__isnull=False),
                name="runs_that_succeeded",
            )
        ]


# What brokers themselves count of topics and groups. Written by the poll only.
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
