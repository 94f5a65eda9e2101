"""A block of whole lines to events.

Most lines of a log are none that counts here, and one search over the block finds those that may: a message that begins
as those of a family do. Only around these does anything look for the ends of the line, its header and its numbers.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from consumers.vocabulary.logs import LogCode, LogForm, LogRole

from .broker_lines import FAMILIES as BROKER_FAMILIES
from .client_lines import FAMILIES as CLIENT_FAMILIES
from .headers import SEPARATOR, TIME, Family, Layout, LineTimes, LogLine, Zones, layout_of

# Nothing that counts here is further from the beginning of its line; a message's body, as Java prints it, is.
LONGEST_LINE = 64 * 1024

# What every event has, beside what its kind alone has.
SUBJECT = ("group", "client", "topic", "broker", "queue")
NUMBERS = {
    *("offset", "next_offset", "min_offset", "max_offset", "stored_offset", "reconsume_times", "timestamp"),
    *("queues", "members", "owned", "broker_id"),
}

LONGEST_NUMBER = 18
LONGEST_HEADER = 4096

# Lines of one subject with more between two of them are events of their own. Longer than any usual interval of such
# lines: commits come every 5 s, locks are refused every 20 s.
APART_MS = 120_000

# Headers and texts of lines; a log has dozens of each in a minute.
MOST_REMEMBERED = 10_000

Params = dict[str, str | int | bool]
# Code, group, client id, topic, broker and queue id.
SubjectKey = tuple[str, str | None, str | None, str | None, str | None, int | None]

FAMILIES_OF: dict[LogRole, tuple[Family, ...]] = {
    LogRole.CLIENT: CLIENT_FAMILIES,
    LogRole.BROKER: BROKER_FAMILIES,
}


@dataclass(slots=True)
class Subject:
    """What lines alike have in common; `key` is all of it."""

    line: LogLine
    key: SubjectKey


# A line that is known and says nothing that counts here is OTHER.
ParsedMessage = tuple[Subject, Params]
OTHER: ParsedMessage = (
    Subject(LogLine(LogCode.REBALANCED, re.compile(b""), ""), ("", None, None, None, None, None)),
    {},
)


@dataclass(frozen=True, slots=True)
class Header:
    layout: Layout
    at: int
    occurs_twice: bool


# No header: the message began before.
QUOTED = Header(Layout(LogForm.OWN), 0, False)


@dataclass(slots=True)
class FoundLine:
    """One line of a known kind, or several commits of a queue that follow each other in a block.

    `at` and `began_at`: of the last and the first, in milliseconds since 1970. `position`: of the last's first byte in
    the block. `params`: of the last. `first`, `low` and `high`: of their offsets."""

    subject: Subject
    at: int
    position: int
    params: Params
    began_at: int
    lines: int = 1
    first: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def offset(self) -> int | None:
        offset = self.params.get("offset")
        return offset if isinstance(offset, int) else None


@dataclass
class ParsedBlock:
    """`unknown`: lines that begin as those of a known kind and go on otherwise, or have no time that is one."""

    found: list[FoundLine] = field(default_factory=list)
    lines: int = 0
    unknown: int = 0
    long: int = 0


class LogParser:
    """Of one file. What it remembers from block to block makes it faster, and changes no result."""

    def __init__(self, role: LogRole, zones: Zones) -> None:
        self._times = LineTimes(zones)
        self._families = FAMILIES_OF[role]
        self._scan = _scanner(role)
        self._layouts: dict[tuple[bytes | None, bytes], Layout | None] = {}
        self._counting: dict[bytes, Subject] = {}

    def parse(self, block: bytes) -> ParsedBlock:
        """`block` ends with a line's end. Never raises, whatever the bytes are."""
        parsed = ParsedBlock(lines=block.count(b"\n"))
        counted: dict[bytes, FoundLine] = {}
        header_text, header, end = b"", None, 0
        for hit in self._scan(block):
            separator = hit.start()
            if separator < end:
                continue  # a line has one message, whatever that quotes
            start = block.rfind(b"\n", end, separator) + 1 or end
            end = block.find(b"\n", separator)
            end = len(block) if end < 0 else end
            if block[start:separator] != header_text:
                header_text = block[start : min(separator, start + LONGEST_HEADER)]
                header = self._header(header_text)
            if header is QUOTED:
                continue  # a part of another message
            cut = end if end <= start + LONGEST_LINE else start + LONGEST_LINE
            parsed.long += cut < end
            if header is None:
                parsed.unknown += 1
                continue
            space = block.rfind(b" ", separator, cut)
            text = block[separator:space]
            if text in self._counting and (offset := _number(block[space + 1 : cut])) is not None:
                self._count(parsed.found, counted, text, offset, header, start)
                continue
            event = self._parsed_message(block, separator + len(SEPARATOR), cut, hit.lastindex or 1, header)
            if event is None:
                parsed.unknown += 1
            elif event is not OTHER:
                parsed.found.append(_found(*event, header, start))
        return parsed

    def _count(
        self,
        found: list[FoundLine],
        counted: dict[bytes, FoundLine],
        text: bytes,
        offset: int,
        header: Header,
        start: int,
    ) -> None:
        """A line that differs from an earlier one in its last number alone: it continues the one before, if it can."""
        line = counted.get(text)
        if line is None or line.params.get("process") != header.layout.process or not _follows(line, offset, header.at):
            line = counted[text] = _found(self._counting[text], {"offset": offset}, header, start)
            found.append(line)
            return
        line.at, line.position, line.high = header.at, start, offset
        line.params["offset"] = offset
        line.lines += 1

    def _header(self, text: bytes) -> Header | None:
        """None: it has no time, or one that is none."""
        time = TIME.match(text)
        layout = self._layout(time[2], text[time.end() :]) if time else None
        if time is None or layout is None:
            return QUOTED if time else None
        second = self._times.second(time[1], layout.form)
        return Header(layout, second[0] + int(time[3] or 0), second[1]) if second else None

    def _layout(self, mark: bytes | None, middle: bytes) -> Layout | None:
        key = (mark, middle)
        if key not in self._layouts:
            if len(self._layouts) >= MOST_REMEMBERED:
                self._layouts.clear()
            self._layouts[key] = layout_of(mark, middle)
        return self._layouts[key]

    def _parsed_message(
        self, block: bytes, message: int, end: int, family: int, header: Header
    ) -> ParsedMessage | None:
        """None: not known."""
        for line in self._families[family - 1].lines:
            if match := line.message.match(block, message, end):
                named = match.groupdict()
                if named.get("group") is None:
                    named["group"] = header.layout.group
                subject = _subject(line, named)
                if line.counts and _number(block[match.start("offset") : end]) is not None:
                    self._remember(block[message - len(SEPARATOR) : match.start("offset") - 1], subject)
                elif line.counts:
                    return None
                return subject, _params(named)
        return OTHER if any(other.match(block, message, end) for other in self._families[family - 1].others) else None

    def _remember(self, text: bytes, subject: Subject) -> None:
        if len(self._counting) >= MOST_REMEMBERED:
            self._counting.clear()
        self._counting[text] = subject


def _follows(line: FoundLine, offset: int, at: int) -> bool:
    return line.high is not None and offset >= line.high and 0 <= at - line.at <= APART_MS


def _found(subject: Subject, params: Params, header: Header, start: int) -> FoundLine:
    if header.layout.process is not None:
        params["process"] = header.layout.process
    if header.occurs_twice:
        params["occurs_twice"] = True
    line = FoundLine(subject, header.at, start, params, header.at)
    if subject.line.merged:
        line.first = line.low = line.high = line.offset
    return line


def _number(text: bytes) -> int | None:
    """Of digits alone, before the end of a line."""
    if not text.isdigit():
        text = text.removesuffix(b"\r")
        if not text.isdigit():
            return None
    return int(text) if len(text) <= LONGEST_NUMBER else None


def _subject(line: LogLine, named: dict[str, bytes | None]) -> Subject:
    queue = named.get("queue")
    names = (_name(named.get(name)) for name in SUBJECT[:4])
    group, client, topic, broker = names
    return Subject(line, (line.code.value, group, client, topic, broker, None if queue is None else int(queue)))


def _params(named: dict[str, bytes | None]) -> Params:
    return {
        name: int(value) if name in NUMBERS else _text(value)
        for name, value in named.items()
        if value is not None and name not in SUBJECT
    }


def _name(value: bytes | None) -> str | None:
    return _text(value) if value else None


def _text(value: bytes) -> str:
    """Text that a database can hold, whatever the bytes are."""
    return value.decode("utf-8", "replace").replace("\0", "\ufffd")


def _scanner(role: LogRole) -> Callable[[bytes], Iterator[re.Match[bytes]]]:
    """Finds every separator that the beginning of a family follows; `lastindex` is the family's number."""
    begins = b"|".join(b"(" + family.begins + b")" for family in FAMILIES_OF[role])
    return re.compile(SEPARATOR + b"(?:" + begins + b")").finditer


# Subjects that are remembered before those that no line can continue are let go.
MOST_OPEN = 20_000


@dataclass(slots=True)
class LogRun:
    """One event: a line, or several of one subject with less than two minutes between two of them.

    `params` are those of its last line. `low` and `high` are of the offsets of merged lines. `row`: its key, once it is
    stored."""

    key: SubjectKey
    began_at: int
    at: int
    position: int
    params: Params
    lines: int = 1
    low: int | None = None
    high: int | None = None
    row: int | None = None

    @property
    def all_params(self) -> Params:
        bounds = {"low_offset": self.low, "high_offset": self.high}
        return self.params | {name: value for name, value in bounds.items() if value is not None}

    def takes(self, line: FoundLine) -> bool:
        """A commit below the last one begins an event of its own: somebody started over. So does another process."""
        if not -APART_MS <= line.began_at - self.at <= APART_MS:
            return False
        if self.params.get("process") != line.params.get("process"):
            return False
        offset = self.params.get("offset")
        return self.key[0] != LogCode.COMMITTED or not isinstance(offset, int) or (line.first or 0) >= offset

    def take(self, line: FoundLine) -> None:
        self.began_at, self.at = min(self.began_at, line.began_at), max(self.at, line.at)
        self.lines += line.lines
        self.params = line.params
        self.position = line.position
        self.low = line.low if self.low is None else self.low if line.low is None else min(self.low, line.low)
        self.high = line.high if self.high is None else self.high if line.high is None else max(self.high, line.high)


class RunMerger:
    """Of one file, block after block."""

    def __init__(self, going_on: Iterable[LogRun] = ()) -> None:
        """`going_on`: stored events that a line may continue."""
        self._open = {run.key: run for run in sorted(going_on, key=lambda run: run.at)}

    def take(self, lines: Iterable[FoundLine]) -> list[LogRun]:
        """The events that these lines began or continued, each once."""
        touched: dict[int, LogRun] = {}
        for line in lines:
            key = line.subject.key
            run = self._open.get(key) if line.subject.line.merged else None
            if run is not None and run.takes(line):
                run.take(line)
            else:
                run = _begun(line)
                if line.subject.line.merged:
                    self._open[key] = run
            touched[id(run)] = run
        if len(self._open) > MOST_OPEN:
            self._close_old()
        return list(touched.values())

    def _close_old(self) -> None:
        newest = max(run.at for run in self._open.values())
        self._open = {key: run for key, run in self._open.items() if run.at >= newest - APART_MS}


def _begun(line: FoundLine) -> LogRun:
    return LogRun(
        key=line.subject.key,
        began_at=line.began_at,
        at=line.at,
        position=line.position,
        params=line.params,
        lines=line.lines,
        low=line.low,
        high=line.high,
    )
