"""Fixtures that all tests share, each kind in its own file."""

pytest_plugins = [
    "pytester",
    "tests.plugins.api",
    "tests.plugins.default_rules",
    "tests.plugins.garbage",
    "tests.plugins.marked",
    # Before what asks it for the chosen tests.
    "tests.plugins.statements",
    "tests.plugins.postgres",
    "tests.plugins.made_once",
    "tests.plugins.migrated_once",
    "tests.plugins.passwords",
    "tests.plugins.properties",
    "tests.plugins.redis_server",
    "tests.plugins.rocketmq",
    "tests.plugins.s3_server",
    "tests.plugins.older_rocketmq",
    "tests.plugins.skips",
    "tests.plugins.spark",
    "tests.plugins.static_files",
]
