"""Where things are kept: database, Redis, lake."""

import os

import dj_database_url

from .environment import number
from .home import CONSUMERSCOPE_HOME

_sqlite = f"sqlite:///{CONSUMERSCOPE_HOME / 'consumerscope.sqlite3'}"
# A connection that its server has ended, as when it is restarted, is opened anew and fails no request.
DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL") or _sqlite, conn_max_age=60, conn_health_checks=True
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
# A statement for a page or for REST that takes longer is cancelled by PostgreSQL; 0: none is.
DATABASE_STATEMENT_SECONDS = number("DATABASE_STATEMENT_SECONDS", 30)

REDIS_URL = os.environ.get("REDIS_URL") or f"unix://{CONSUMERSCOPE_HOME / 'redis.sock'}"

CONSUMERSCOPE_LAKE = os.environ.get("CONSUMERSCOPE_LAKE") or str(CONSUMERSCOPE_HOME / "lake")
LAKE_RAW_HOURS = number("CONSUMERSCOPE_LAKE_RAW_HOURS", 48, least=1)
LAKE_MINUTE_WINDOW_DAYS = number("CONSUMERSCOPE_LAKE_MINUTE_WINDOW_DAYS", 7, least=1)
LAKE_TEN_MINUTE_WINDOW_DAYS = number("CONSUMERSCOPE_LAKE_TEN_MINUTE_WINDOW_DAYS", 90, least=1)
LAKE_HOUR_WINDOW_DAYS = number("CONSUMERSCOPE_LAKE_HOUR_WINDOW_DAYS", 730, least=2)
LAKE_DAY_WINDOW_DAYS = number("CONSUMERSCOPE_LAKE_DAY_WINDOW_DAYS", 1825, least=2)
# History stops, and /readyz says so, before the disk is full.
LAKE_DISK_FLOOR_MIB = number("CONSUMERSCOPE_LAKE_DISK_FLOOR_MIB", 512)
