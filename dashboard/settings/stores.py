"""Where things are kept: database, Redis, lake."""

import dj_database_url

from .environment import number, section, text
from .home import CONSUMERSCOPE_HOME

section("Storage", "Database, Redis and the history store. Retention: [what is kept](architecture.md#data-flow).")

_sqlite = f"sqlite:///{CONSUMERSCOPE_HOME / 'consumerscope.sqlite3'}"
# A connection that its server has ended, as when it is restarted, is opened anew and fails no request.
DATABASES = {
    "default": dj_database_url.parse(
        text(
            "DATABASE_URL",
            _sqlite,
            "PostgreSQL in production: `postgresql://user:password@host/name`. Connecting takes at most 5 s,"
            " and a connection whose host vanishes ends within 25 s (`?connect_timeout=`, "
            "`keepalives_idle=`, `keepalives_interval=`, `keepalives_count=`, `tcp_user_timeout=`).",
            shown="SQLite in the home",
        ),
        conn_max_age=60,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Several processes write: the log must not block readers, and a writer waits for its turn rather than fails.
    # FULL: a commit is on the disk before it returns. A reset and a resend note each step before a broker is told, and
    # that note must survive a power cut. The price is one fsync a commit; a poll has a few commits.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 30,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    # A host that is gone is noticed before a browser stops waiting for its page, and while an answer is awaited: else
    # the kernel waits for a quarter of an hour. The URL may say other numbers.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        # Milliseconds until what was sent must have been received.
        "tcp_user_timeout": 20_000,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DATABASE_STATEMENT_SECONDS = number(
    "DATABASE_STATEMENT_SECONDS",
    30,
    "PostgreSQL cancels a statement for a page or for REST that takes longer. 0 means no limit.",
)

REDIS_URL = text(
    "REDIS_URL",
    f"unix://{CONSUMERSCOPE_HOME / 'redis.sock'}",
    "Celery's broker, and locks. `make run` starts a Redis unless this is set.",
    shown="`redis.sock` in the home",
)

CONSUMERSCOPE_LAKE = text(
    "CONSUMERSCOPE_LAKE",
    str(CONSUMERSCOPE_HOME / "lake"),
    "The history store, as Parquet: a folder, `s3://bucket/folder?…` ([options and "
    "keys](scale.md#object-storage)) or `hdfs://…`. Workers of a Spark cluster that read a folder "
    "must run as the same user.",
    shown="`lake` in the home",
)
LAKE_RAW_HOURS = number("CONSUMERSCOPE_LAKE_RAW_HOURS", 48, "Hours for which every reading is kept.", least=1)
LAKE_MINUTE_WINDOW_DAYS = number(
    "CONSUMERSCOPE_LAKE_MINUTE_WINDOW_DAYS",
    7,
    "Days for which 1-minute windows, and the rates that members report, are kept.",
    least=1,
)
LAKE_TEN_MINUTE_WINDOW_DAYS = number(
    "CONSUMERSCOPE_LAKE_TEN_MINUTE_WINDOW_DAYS",
    90,
    "Days for which 10-minute windows, rebalances, state changes, members and owners are kept.",
    least=1,
)
LAKE_HOUR_WINDOW_DAYS = number(
    "CONSUMERSCOPE_LAKE_HOUR_WINDOW_DAYS", 730, "Days for which 1-hour windows are kept.", least=2
)
LAKE_DAY_WINDOW_DAYS = number(
    "CONSUMERSCOPE_LAKE_DAY_WINDOW_DAYS", 1825, "Days for which 1-day windows are kept. Days are UTC.", least=2
)
# History stops, and /readyz says so, before the disk is full.
LAKE_DISK_FLOOR_MIB = number(
    "CONSUMERSCOPE_LAKE_DISK_FLOOR_MIB",
    512,
    "With less free disk space than this, history stops and `/readyz` reports it. Object stores have no floor.",
)
