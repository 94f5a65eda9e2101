"""How an operator names logs."""

from datetime import timedelta

import pytest

from consumers.logs.globs import WrongLogGlob, parse_log_globs, zone_named


def test_globs_are_split_and_have_the_zone_before_them():
    one, two = parse_log_globs(" /logs/*/rocketmq_client.log ; Asia/Shanghai=/b/broker.log;")
    assert (one.pattern, one.zone, one.folder) == ("/logs/*/rocketmq_client.log", None, "/logs")
    assert (two.pattern, two.zone, str(two)) == ("/b/broker.log", "Asia/Shanghai", "Asia/Shanghai=/b/broker.log")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("logs/a.log", "no absolute path"),
        ("/logs/**/a.log", "'**'"),
        ("/logs/", "names a folder"),
        ("/logs/a.log.gz", "packed"),
        ("/*.log", "at least one folder"),
        ("/*/a.log", "at least one folder"),
        ("Mars/Olympus=/logs/a.log", "no time zone"),
        ("../../etc/passwd=/logs/a.log", "no time zone"),
        ("+25:00=/logs/a.log", "no time zone"),
        ("=/logs/a.log", "no time zone"),
        ("/a/a.log;/a/a.log", "named twice"),
    ],
)
def test_what_cannot_be_followed_is_refused(text, said):
    with pytest.raises(WrongLogGlob, match=said.replace("*", r"\*")):
        parse_log_globs(text)


def test_a_zone_may_be_an_offset():
    assert zone_named("-03:30").utcoffset(None) == -timedelta(hours=3, minutes=30)
