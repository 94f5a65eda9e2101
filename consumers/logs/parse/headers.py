"""What stands before the message of a line: a time without zone, a level, and a layout that tells who wrote it.

Layouts that RocketMQ ships:
- rmq.client.logback.xml (clients from 5.0):
  `%d{yyy-MM-dd HH:mm:ss.SSS,GMT+8} %-5p [%pid] [%t] [%logger{12}#%M:%L] - %m%n`
- LoggingBuilder.DefaultLayout (clients 4.4 to 4.9):
  `yyyy-MM-dd HH:mm:ss,SSS LEVEL LOGGER - MESSAGE`, in the JVM's zone
- rmq.broker.logback.xml and logback_broker.xml: `%d{yyy-MM-dd HH:mm:ss,GMT+8} %p %t - %m%n`
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from consumers.vocabulary.logs import LogCode, LogForm, ZoneBasis
from consumers.vocabulary.times import EPOCH

# The form of one kind of line: a declaration of what RocketMQ writes, by which class, and what it means.

# Names as RocketMQ writes them into a line: no space, comma, closing bracket or control character.
_NAME = rb"[!-+\--\\^-~\x80-\xff]{1,255}"
GROUP = rb"(?P<group>" + _NAME + rb")"
TOPIC = rb"(?P<topic>" + _NAME + rb")"
BROKER = rb"(?P<broker>" + _NAME + rb")"
QUEUE = rb"(?P<queue>-?\d{1,9})"
CLIENT = rb"(?P<client>" + _NAME + rb")"
ADDRESS = rb"(?P<address>[!-Z^-~]{0,255})"

# MessageQueue.toString
MESSAGE_QUEUE = rb"MessageQueue \[topic=" + TOPIC + rb", brokerName=" + BROKER + rb", queueId=" + QUEUE + rb"\]"

# PullRequest.toString
PULL_REQUEST = (
    rb"PullRequest \[consumerGroup="
    + GROUP
    + rb", messageQueue="
    + MESSAGE_QUEUE
    + rb", nextOffset=(?P<offset>-?\d{1,18})\]"
)

# ClientChannelInfo.toString
CHANNEL = rb"ClientChannelInfo \[channel=\[(?P<channel>[^\]\n]{0,255})\], clientId=" + CLIENT + rb","


def other_name(name: str) -> bytes:
    """A name that is neither group, topic, broker nor the client that the line is about."""
    return b"(?P<" + name.encode() + b">" + _NAME + b")"


def number(name: str) -> bytes:
    return b"(?P<" + name.encode() + rb">-?\d{1,18})"


@dataclass(frozen=True)
class LogLine:
    """`written_by`: the class whose log statement it is, with the versions that have it. `merged`: it is written again
    and again, so that lines of the same subject are one event with a count. `counts`: it ends with a space and its
    offset, and all before is its subject: most lines of a log are of that kind, and are read by a short cut."""

    code: LogCode
    message: re.Pattern[bytes]
    written_by: str
    merged: bool = False
    counts: bool = False


@dataclass(frozen=True)
class Family:
    """Messages that begin alike. One that is of none of its lines, and not among `others`, is an unknown line."""

    begins: bytes
    lines: tuple[LogLine, ...]
    others: tuple[re.Pattern[bytes], ...] = field(default=())


def line(code: LogCode, message: bytes, written_by: str, *, merged: bool = False, counts: bool = False) -> LogLine:
    return LogLine(code, re.compile(message), written_by, merged, counts)


def family_of_one(opening: bytes, code: LogCode, pattern: bytes, written_by: str, *, merged: bool = False) -> Family:
    """A family with a single kind of line."""
    return Family(opening, (line(code, pattern, written_by, merged=merged),))


SEPARATOR = b" - "

# Groups: second, mark before milliseconds, milliseconds. Between it and the separator stands what tells the layout.
TIME = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:([.,])(\d{3}))? (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +")
_CLIENT_5 = re.compile(rb"\[(\d{1,9})\] \[.*\] \[[^\]]*#[^\]]*:[\d?]+\]")

# A consumer names its threads after its group, of which it takes 100 characters (4.9, 5.x: ConsumeMessageConcurrently-
# and ConsumeMessageOrderlyService).
_GROUP_THREAD = re.compile(rb"\[(?:ConsumeMessageThread|CleanExpireMsgScheduledThread)_([!-Z^-~]{1,99})_\d+\]")

# The zone that RocketMQ's own files name, on every machine.
SHIPPED_ZONE = timezone(timedelta(hours=8))
ZONE_OF_FORM: dict[LogForm, tzinfo] = {LogForm.CLIENT_5: SHIPPED_ZONE, LogForm.BROKER: SHIPPED_ZONE}

_SECOND = timedelta(seconds=1)
MOST_CACHED = 100_000


@dataclass(frozen=True)
class Layout:
    """`process` and `group`, where the layout tells them: the JVM's id, and the group whose thread wrote the line."""

    form: LogForm
    process: int | None = None
    group: bytes | None = None


def layout_of(mark: bytes | None, middle: bytes) -> Layout | None:
    """By the mark before milliseconds and what stands between level and message. None where a message began before."""
    if SEPARATOR in middle:
        return None
    if mark is None:
        return Layout(LogForm.BROKER)
    if mark == b"," and b" " not in middle:
        return Layout(LogForm.CLIENT_4)
    thread = _GROUP_THREAD.search(middle)
    group = thread[1] if thread else None
    if mark == b"." and (named := _CLIENT_5.fullmatch(middle)):
        return Layout(LogForm.CLIENT_5, int(named[1]), group)
    return Layout(LogForm.OWN, None, group)


@dataclass(frozen=True)
class Zones:
    """`named`: by whoever registered the glob; it counts for every layout. `machine`: for layouts without a zone."""

    named: tzinfo | None
    machine: tzinfo

    def of(self, form: LogForm) -> tuple[tzinfo, ZoneBasis]:
        if self.named is not None:
            return self.named, ZoneBasis.NAMED
        if form in ZONE_OF_FORM:
            return ZONE_OF_FORM[form], ZoneBasis.FORM
        return self.machine, ZoneBasis.MACHINE


class LineTimes:
    """Seconds as a log spells them to milliseconds since 1970. Lines of one second cost one conversion."""

    def __init__(self, zones: Zones) -> None:
        self._zones = zones
        self._known: dict[tuple[bytes, LogForm], tuple[int, bool] | None] = {}

    def second(self, second: bytes, form: LogForm) -> tuple[int, bool] | None:
        """Milliseconds, and whether the hour occurs twice in its zone: then it is the first. None: no such time."""
        key = (second, form)
        if key not in self._known:
            if len(self._known) >= MOST_CACHED:
                self._known.clear()
            self._known[key] = self._converted(second, form)
        return self._known[key]

    def _converted(self, second: bytes, form: LogForm) -> tuple[int, bool] | None:
        try:
            local = datetime.fromisoformat(second.decode("ascii"))
            zone, _ = self._zones.of(form)
            first = local.replace(tzinfo=zone).astimezone(UTC)
            again = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return int((first - EPOCH) / _SECOND) * 1000, again > first


@dataclass(frozen=True)
class LastLine:
    form: LogForm
    at: int  # milliseconds


def last_line(tail: bytes, zones: Zones) -> LastLine | None:
    """Of the last line with a header, which begins in `tail`. The first of its lines may be cut."""
    times = LineTimes(zones)
    end = len(tail)
    while end > 0:
        start = tail.rfind(b"\n", 0, end - 1) + 1
        if time := TIME.match(tail, start, end):
            message = tail.find(SEPARATOR, time.end(), end)
            layout = layout_of(time[2], tail[time.end() : message]) if message >= 0 else None
            if layout and (second := times.second(time[1], layout.form)):
                return LastLine(layout.form, second[0] + int(time[3] or 0))
        end = start
    return None
