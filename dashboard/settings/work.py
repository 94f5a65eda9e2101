"""The work in the background: polls, the pipeline, logs, messages, Celery."""

from .environment import folders, number, section, text
from .home import CONSUMERSCOPE_HOME
from .stores import REDIS_URL

section(
    "Intervals and Spark",
    "With a demo cluster, `make run` polls and evaluates faster than these defaults. Values that you set are kept.",
)

CONSUMERSCOPE_POLL_SECONDS = number("CONSUMERSCOPE_POLL_SECONDS", 15, "How often clusters are polled.", least=1)
CONSUMERSCOPE_AGGREGATE_SECONDS = number("CONSUMERSCOPE_AGGREGATE_SECONDS", 30, "How often the pipeline runs.", least=1)
ALERT_SECONDS = number(
    "ALERT_SECONDS",
    CONSUMERSCOPE_POLL_SECONDS,
    "How often alert rules are evaluated.",
    least=1,
    shown="`CONSUMERSCOPE_POLL_SECONDS`",
)
# How often dead letters, blocked queues and rebalances of all groups are noted for lists of their health, and how long
# one round checks single groups: ownership and retries, the longest unchecked first.
HEALTH_SECONDS = number(
    "HEALTH_SECONDS",
    CONSUMERSCOPE_POLL_SECONDS,
    "How often dead letters, blocked queues and rebalances of all groups are noted for the health of groups.",
    least=1,
    shown="`CONSUMERSCOPE_POLL_SECONDS`",
)
HEALTH_CHECK_SECONDS = number(
    "HEALTH_CHECK_SECONDS",
    HEALTH_SECONDS / 3,
    "How long one round checks ownership and retries of single groups. If not every group can be "
    "checked within `CONSUMERSCOPE_EVIDENCE_SECONDS`, the health of the rest is unknown: increase "
    "this value.",
    least=0.1,
    shown="a third of `HEALTH_SECONDS`",
)
SPARK_MASTER = text(
    "SPARK_MASTER",
    "local[*]",
    "Where Spark runs: `spark://…`, YARN, Kubernetes. See [when and how](scale.md#a-spark-cluster). "
    "`make run` uses `local[1]`.",
)
SPARK_DRIVER_MEMORY = text("SPARK_DRIVER_MEMORY", "1g", "The memory of Spark's driver.")
# A run that takes longer is cancelled, and the Spark worker restarted if it does not let go.
SPARK_RUN_LIMIT_SECONDS = number(
    "SPARK_RUN_LIMIT_SECONDS", 600, "A pipeline run that takes longer is cancelled.", least=10
)

section("Polling", "Budgets of one poll. Offsets take four calls per broker and need no budget.")

POLL_CALL_DEADLINE_SECONDS = number(
    "POLL_CALL_DEADLINE_SECONDS",
    5,
    "How long one call to a broker may take. A worker counts as stopped after 30 s, or after 15 s "
    "and three such calls, whichever is longer.",
    least=0.1,
)
POLL_CONFIG_SECONDS = number(
    "POLL_CONFIG_SECONDS", 45, "How often topics and groups are listed, with their settings on each broker."
)
# How long brokers keep messages and whether they take any: one call of 13 kB a broker, and one of name servers.
POLL_STORE_CONFIG_SECONDS = number(
    "POLL_STORE_CONFIG_SECONDS",
    30,
    "How often each broker is asked for its retention and write permission (an answer of 13 kB).",
)
# A broker under load is behind by some bytes at every moment.
POLL_DISPATCH_BEHIND_MIB = number(
    "POLL_DISPATCH_BEHIND_MIB",
    4,
    "A broker with more undispatched messages than this hides messages from its offsets: lags there are "
    "[lower bounds](evaluation.md#lags-that-are-lower-bounds).",
)
POLL_MIN_OFFSET_SECONDS = number("POLL_MIN_OFFSET_SECONDS", 60, "How often min offsets are read.")
# Enough for 2,000 groups on two brokers in each reading; larger clusters are read in turns.
POLL_MEMBERSHIP_CALLS = int(
    number(
        "POLL_MEMBERSHIP_CALLS",
        4000,
        "Calls for members in one poll, one for each group and broker. Further groups wait for the next poll.",
    )
)
POLL_RUNNING_INFO_CALLS = int(
    number(
        "POLL_RUNNING_INFO_CALLS",
        200,
        "Calls to clients in one poll. A group is asked completely, so the last group may exceed it.",
    )
)
# Past it a round begins no more calls: a third of the interval each leaves the rest to offsets and recording.
POLL_MEMBERSHIP_SECONDS = number(
    "POLL_MEMBERSHIP_SECONDS",
    CONSUMERSCOPE_POLL_SECONDS / 3,
    "After this time, a poll starts no more calls for members.",
    shown="a third of `CONSUMERSCOPE_POLL_SECONDS`",
)
POLL_RUNNING_INFO_SECONDS = number(
    "POLL_RUNNING_INFO_SECONDS",
    CONSUMERSCOPE_POLL_SECONDS / 3,
    "After this time, a poll starts no more calls to clients.",
    shown="a third of `CONSUMERSCOPE_POLL_SECONDS`",
)
# So long after a change a group's members are asked in each reading: longer than an orderly lock lasts (60 s).
POLL_PATIENCE_SECONDS = number(
    "POLL_PATIENCE_SECONDS", 120, "For this long after a change of its members, a group is asked in every poll."
)
POLL_EXACT_CALLS = int(
    number(
        "POLL_EXACT_CALLS",
        20,
        "Calls for exact time lags in one poll, two for each queue (its min offset and one message). 0 "
        "means that no message is pulled.",
    )
)
POLL_START_CALLS = int(
    number(
        "POLL_START_CALLS",
        20,
        "Calls that find where a member would start on queues without an offset, up to two for each queue.",
    )
)
POLL_TAG_CALLS = int(
    number(
        "POLL_TAG_CALLS", 10, "Calls that count how many of the next messages match a group's tags, one for each topic."
    )
)
# Oldest messages that members hold unfinished for so long are looked up, so many in each reading.
POLL_HEAD_SECONDS = number(
    "POLL_HEAD_SECONDS", 45, "A message that a member holds unfinished for this long is fetched once."
)
POLL_HEAD_CALLS = int(
    number("POLL_HEAD_CALLS", 10, "Calls for such messages in one poll, two for each message. 0 turns this off.")
)
# What brokers count themselves: bytes of topics and groups, messages that members sent back.
POLL_STATISTICS_CALLS = int(
    number(
        "POLL_STATISTICS_CALLS",
        1000,
        "Calls a minute for what brokers count: one for each topic on a broker, two for each group's part of it. "
        "0 turns this off.",
    )
)
# When the first message of each delay level is due; what of which group waits there, and in brokers' timer wheels.
POLL_DELAY_CALLS = int(
    number(
        "POLL_DELAY_CALLS",
        100,
        "Calls that find when the first message of a delay level is due, one for each level with messages.",
    )
)
POLL_RETRY_SAMPLE_CALLS = int(
    number(
        "POLL_RETRY_SAMPLE_CALLS",
        40,
        "Calls for one sample of the delay levels, up to 32 messages each. 0 means that no message is pulled.",
    )
)
POLL_RETRY_SAMPLE_SECONDS = number(
    "POLL_RETRY_SAMPLE_SECONDS", 60, "How often delay levels are sampled by group, and timer wheels are counted."
)
POLL_OFFSET_FILE_SECONDS = number(
    "POLL_OFFSET_FILE_SECONDS",
    60,
    "How often offset files are read, if a cluster names any. See [offset stores](offset-stores.md).",
)
# Nothing outside of these is opened. Without the variable: where RocketMQ keeps them itself, /data, and the demo's.
POLL_OFFSET_FOLDERS = folders(
    "POLL_OFFSET_FOLDERS",
    f"~/store:~/.rocketmq_offsets:/data:{CONSUMERSCOPE_HOME / 'demo'}",
    "Folders that may contain offset files, separated by `:`. Files elsewhere are not opened.",
    shown="`~/store:~/.rocketmq_offsets:/data:HOME/demo`",
)
POLL_OFFSET_FILES = int(
    number(
        "POLL_OFFSET_FILES",
        200,
        "How many offset files of one cluster are read. More files are an error that is shown.",
        least=1,
    )
)
POLL_OFFSET_FILE_MIB = number(
    "POLL_OFFSET_FILE_MIB",
    64,
    "The largest offset file that is read. A larger file is an error that is shown.",
    least=1,
)
POLL_OFFSET_FILE_DEADLINE_SECONDS = number(
    "POLL_OFFSET_FILE_DEADLINE_SECONDS",
    10,
    "How long a poll waits for the disk of offset files before it goes on without them.",
    least=0.1,
)

DEAD_LETTER_SECONDS = number(
    "DEAD_LETTER_SECONDS", 30, "How often [dead letters](dead-letters.md) are indexed.", least=1
)
DEAD_LETTER_CALLS = int(
    number(
        "DEAD_LETTER_CALLS",
        400,
        "Calls for dead letters in one pass over a cluster: one for 32 messages, and one for each group and broker.",
        least=1,
    )
)
DEAD_LETTERS_KEPT = int(
    number(
        "DEAD_LETTERS_KEPT",
        20000,
        "How many dead-letter messages of a group are listed, newest first. Older ones are counted.",
        least=1,
    )
)

section("Logs of RocketMQ", "How [logs of clients and brokers](logs.md) are followed, if a cluster names any.")

LOG_SECONDS = number("LOG_SECONDS", 15, "How often logs are read.", least=1)
LOG_RUN_MIB = number("LOG_RUN_MIB", 64, "MiB of logs that are read of one cluster in one run.", least=8)
LOG_BACKFILL_MIB = number(
    "LOG_BACKFILL_MIB", 256, "MiB at the end of a log that are read when it is found; what is before them is skipped."
)
LOG_FILES = int(
    number("LOG_FILES", 200, "How many logs of a cluster's clients, and of its brokers, are read.", least=1)
)
LOG_EVENT_DAYS = number("LOG_EVENT_DAYS", 7, "Days for which events from logs are kept.", least=1)
LOG_ZONE = text(
    "LOG_ZONE",
    "",
    "The time zone of logs that do not come with one, as `Asia/Shanghai` or `+08:00`. See "
    "[time zones](logs.md#time-zones).",
    shown="the zone of the machine",
)

section("Messages and dead letters", "What is shown, exported and resent of [dead letters](dead-letters.md).")

MESSAGE_BODY_SHOWN_BYTES = int(
    number("MESSAGE_BODY_SHOWN_BYTES", 65536, "How much of a message body is shown.", least=1)
)
MESSAGE_BODY_EXPORTED_BYTES = int(
    number("MESSAGE_BODY_EXPORTED_BYTES", 4194304, "How much of each message body is exported.", least=1)
)
RESEND_MESSAGES_MAX = int(
    number("RESEND_MESSAGES_MAX", 10000, "How many dead-letter messages one resend may include.", least=1)
)
# Each holds a thread of the general worker and one of the web server.
DEAD_LETTER_EXPORTS = int(
    number("DEAD_LETTER_EXPORTS", 2, "How many exports of dead-letter messages may run at once.", least=1)
)
DEAD_LETTER_EXPORT_SECONDS = number("DEAD_LETTER_EXPORT_SECONDS", 3600, "How long one export may run.", least=10)

# Celery spells a Unix socket its own way.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "general"
CELERY_TASK_ROUTES = {
    "consumers.poll*": {"queue": "poll"},
    "consumers.aggregate*": {"queue": "spark"},
    # Whoever is to be paged must not wait behind exports, re-sends and resets.
    "consumers.alerts*": {"queue": "alerts"},
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CONCURRENCY = 4
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ACKS_LATE = False
# Celery's own would start nothing for as long as a clock was ahead that is set back.
CELERY_BEAT_SCHEDULER = "dashboard.beat:SteadyScheduler"
CELERY_BEAT_SCHEDULE = {
    "polls": {
        "task": "consumers.poll_due",
        "schedule": CONSUMERSCOPE_POLL_SECONDS,
        "options": {"expires": CONSUMERSCOPE_POLL_SECONDS, "queue": "poll"},
    },
    "dead letters": {
        "task": "consumers.index_dead_letters",
        "schedule": DEAD_LETTER_SECONDS,
        "options": {"expires": DEAD_LETTER_SECONDS},
    },
    "logs": {"task": "consumers.logs_due", "schedule": LOG_SECONDS, "options": {"expires": LOG_SECONDS}},
    "re-sends": {"task": "consumers.resend_due", "schedule": 15.0, "options": {"expires": 15}},
    "resets": {"task": "consumers.resets_due", "schedule": 15.0, "options": {"expires": 15}},
    "previews": {"task": "consumers.previews_due", "schedule": 60.0, "options": {"expires": 60}},
    "alerts": {
        "task": "consumers.alerts_due",
        "schedule": ALERT_SECONDS,
        "options": {"expires": ALERT_SECONDS, "queue": "alerts"},
    },
    "old alerts": {
        "task": "consumers.alerts_forget",
        "schedule": 3600.0,
        "options": {"expires": 3600, "queue": "alerts"},
    },
    "health": {
        "task": "consumers.health_due",
        "schedule": HEALTH_SECONDS,
        "options": {"expires": HEALTH_SECONDS},
    },
    "pipeline": {
        "task": "consumers.aggregate_due",
        "schedule": CONSUMERSCOPE_AGGREGATE_SECONDS,
        "options": {"expires": CONSUMERSCOPE_AGGREGATE_SECONDS, "queue": "spark"},
    },
    "upkeep": {
        "task": "consumers.aggregate_upkeep",
        "schedule": 600.0,
        "options": {"expires": 600, "queue": "spark"},
    },
}
