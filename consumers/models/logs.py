"""RocketMQ's logs: the files that are followed, and the events that their lines tell. Written by the followers only."""

from django.db import models

from consumers.models.clusters import Cluster
from consumers.vocabulary.logs import LogForm, LogRole, ZoneBasis


class LogFile(models.Model):
    """A log of a cluster's client or broker, under whatever name it has by now; or a glob with a problem of its own.

    A file is known by `identity` (device and inode) and `head`, a digest of its first `head_bytes`: a log that is
    rotated keeps its row. `offset` is how far it was read. Counts are of the lines before `offset`.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="log_files")
    role = models.CharField(max_length=10, choices=[(role.value, role.value) for role in LogRole])
    path = models.CharField(max_length=1000)
    identity = models.CharField(max_length=50, default="", help_text="device:inode; empty for a glob")
    head = models.CharField(max_length=64, default="")
    head_bytes = models.IntegerField(default=0)
    offset = models.BigIntegerField(default=0)
    size = models.BigIntegerField(null=True)
    skipped_bytes = models.BigIntegerField(default=0, help_text="Not read, as the file was too large when it was found")
    lines = models.BigIntegerField(default=0)
    event_lines = models.BigIntegerField(default=0, help_text="Lines of known kinds")
    unknown_lines = models.BigIntegerField(default=0, help_text="Begin as those of a known kind and go on otherwise")
    long_lines = models.BigIntegerField(default=0, help_text="Cut, as they were too long")
    truncations = models.IntegerField(default=0, help_text="How often it was emptied and begun again")
    first_seen_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, help_text="When all that it had was last read")
    last_event_at = models.DateTimeField(null=True)
    form = models.CharField(max_length=10, null=True, choices=[(form.value, form.value) for form in LogForm])
    zone = models.CharField(max_length=64, null=True, help_text="The zone that its times are read in")
    zone_basis = models.CharField(max_length=10, null=True, choices=[(one.value, one.value) for one in ZoneBasis])
    zone_agrees_at = models.DateTimeField(
        null=True, help_text="When the time of its last line was last that of its last write"
    )
    problem = models.JSONField(null=True, help_text="{code, params}: why it is not read")
    gone_at = models.DateTimeField(null=True, help_text="When no file of this identity was found any more")

    class Meta:
        ordering = ["cluster", "role", "path", "pk"]
        indexes = [models.Index(fields=["cluster", "gone_at"], name="log_files_of_cluster")]

    def __str__(self) -> str:
        return self.path


class LogEvent(models.Model):
    """What one line tells, or several alike: `lines` of them, from `began_at` to `at`.

    `group`, `client_id`, `topic`, `broker` and `queue_id` are null where the line does not name them.
    `position` is the place of its last line in the file.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="log_events")
    file = models.ForeignKey(LogFile, on_delete=models.CASCADE, related_name="events")
    code = models.CharField(max_length=30, help_text="A LogCode")
    began_at = models.DateTimeField()
    at = models.DateTimeField()
    group = models.CharField(max_length=255, null=True)
    client_id = models.CharField(max_length=255, null=True)
    topic = models.CharField(max_length=255, null=True)
    broker = models.CharField(max_length=255, null=True)
    queue_id = models.IntegerField(null=True)
    lines = models.IntegerField(default=1)
    position = models.BigIntegerField()
    params = models.JSONField(default=dict)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [
            models.Index(fields=["cluster", "group", "at"], name="log_events_of_group"),
            models.Index(fields=["file", "at"], name="log_events_of_file"),
            models.Index(fields=["at"], name="log_events_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.group}"
