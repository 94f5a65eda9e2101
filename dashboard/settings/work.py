"""The work in the background: polls, the pipeline, Celery."""

import os

from .environment import folders, number
from .home import CONSUMERSCOPE_HOME
from .stores import REDIS_URL

CONSUMERSCOPE_POLL_SECONDS = number("CONSUMERSCOPE_POLL_SECONDS", 15, least=1)
CONSUMERSCOPE_AGGREGATE_SECONDS = number("CONSUMERSCOPE_AGGREGATE_SECONDS", 30, least=1)
# How often alert rules are evaluated.
ALERT_SECONDS = number("ALERT_SECONDS", CONSUMERSCOPE_POLL_SECONDS, least=1)
# How often dead letters, blocked queues and rebalances of all groups are noted for lists of their health, and how long
# one round checks single groups: ownership and retries, the longest unchecked first.
HEALTH_SECONDS = number("HEALTH_SECONDS", CONSUMERSCOPE_POLL_SECONDS, least=1)
HEALTH_CHECK_SECONDS = number("HEALTH_CHECK_SECONDS", HEALTH_SECONDS / 3, least=0.1)
SPARK_MASTER = os.environ.get("SPARK_MASTER") or "local[*]"
SPARK_DRIVER_MEMORY = os.environ.get("SPARK_DRIVER_MEMORY") or "1g"
# A run that takes longer is cancelled, and the Spark worker restarted if it does not let go.
SPARK_RUN_LIMIT_SECONDS = number("SPARK_RUN_LIMIT_SECONDS", 600, least=10)

# Budgets of one reading. Offsets cost three calls a broker and need none.
POLL_CALL_DEADLINE_SECONDS = number("POLL_CALL_DEADLINE_SECONDS", 5, least=0.1)
POLL_CONFIG_SECONDS = number("POLL_CONFIG_SECONDS", 45)
# How long brokers keep messages and whether they take any: one call of 13 kB a broker, and one of name servers.
POLL_STORE_CONFIG_SECONDS = number("POLL_STORE_CONFIG_SECONDS", 30)
POLL_MIN_OFFSET_SECONDS = number("POLL_MIN_OFFSET_SECONDS", 60)
# Enough for 2,000 groups on two brokers in each reading; larger clusters are read in turns.
POLL_MEMBERSHIP_CALLS = int(number("POLL_MEMBERSHIP_CALLS", 4000))
POLL_RUNNING_INFO_CALLS = int(number("POLL_RUNNING_INFO_CALLS", 200))
# Past it a round begins no more calls: a third of the interval each leaves the rest to offsets and recording.
POLL_MEMBERSHIP_SECONDS = number("POLL_MEMBERSHIP_SECONDS", CONSUMERSCOPE_POLL_SECONDS / 3)
POLL_RUNNING_INFO_SECONDS = number("POLL_RUNNING_INFO_SECONDS", CONSUMERSCOPE_POLL_SECONDS / 3)
# So long after a change a group's members are asked in each reading: longer than an orderly lock lasts (60 s).
POLL_PATIENCE_SECONDS = number("POLL_PATIENCE_SECONDS", 120)
POLL_EXACT_CALLS = int(number("POLL_EXACT_CALLS", 20))
POLL_START_CALLS = int(number("POLL_START_CALLS", 20))
POLL_TAG_CALLS = int(number("POLL_TAG_CALLS", 10))
# Oldest messages that members hold unfinished for so long are looked up, so many in each reading.
POLL_HEAD_SECONDS = number("POLL_HEAD_SECONDS", 45)
POLL_HEAD_CALLS = int(number("POLL_HEAD_CALLS", 10))
# When the first message of each delay level is due; what of which group waits there, and in brokers' timer wheels.
POLL_DELAY_CALLS = int(number("POLL_DELAY_CALLS", 100))
POLL_RETRY_SAMPLE_CALLS = int(number("POLL_RETRY_SAMPLE_CALLS", 40))
POLL_RETRY_SAMPLE_SECONDS = number("POLL_RETRY_SAMPLE_SECONDS", 60)
# Offset files of brokers and clients, where a cluster names some.
POLL_OFFSET_FILE_SECONDS = number("POLL_OFFSET_FILE_SECONDS", 60)
# Nothing outside of these is opened. Without the variable: where RocketMQ keeps them itself, /data, and the demo's.
POLL_OFFSET_FOLDERS = folders("POLL_OFFSET_FOLDERS", f"~/store:~/.rocketmq_offsets:/data:{CONSUMERSCOPE_HOME / 'demo'}")
POLL_OFFSET_FILES = int(number("POLL_OFFSET_FILES", 200, least=1))
POLL_OFFSET_FILE_MIB = number("POLL_OFFSET_FILE_MIB", 64, least=1)
POLL_OFFSET_FILE_DEADLINE_SECONDS = number("POLL_OFFSET_FILE_DEADLINE_SECONDS", 10, least=0.1)

# How often dead letters are looked into, with how many calls a cluster, and how many of a group are kept as rows.
DEAD_LETTER_SECONDS = number("DEAD_LETTER_SECONDS", 30, least=1)
DEAD_LETTER_CALLS = int(number("DEAD_LETTER_CALLS", 400, least=1))
DEAD_LETTERS_KEPT = int(number("DEAD_LETTERS_KEPT", 20000, least=1))

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
        "task": "consumers.look_into_dead_letters",
        "schedule": DEAD_LETTER_SECONDS,
        "options": {"expires": DEAD_LETTER_SECONDS},
    },
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
