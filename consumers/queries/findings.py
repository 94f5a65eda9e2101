"""A finding as a check reports it: a code with parameters, and its words in the language of the request.

Parameters are JSON, so that a stored finding has the same words as one that was just found.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils.translation import gettext, gettext_lazy, ngettext

from consumers.queries.declared import answer, public, unknown_of
from consumers.rocketmq.allocation import QueueKey
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.findings import FindingCheck, FindingCode, FindingSeverity, FindingSubject
from consumers.words.finding_ownership import FindingSpec, LogText
from consumers.words.findings import SPECS, TITLES, VALUES, WHY
from consumers.words.marks import chained, clauses, labelled, listed
from consumers.words.offset_files import finding_words, problem_words
from consumers.words.reasons import WORDED_ABOVE, stored_words
from consumers.words.spans import age, count, messages, place

# A finding may be about thousands of queues: the first places are stored, with the number of all.
MOST_STORED = 20
MOST_IDS, MOST_PLACES, MOST_TOPICS = 4, 3, 4
NOT_AT_ALL = ""
# Parameters that name queues; and those that choose sentences.
PLACES = ("queues", "unowned", "doubly_owned")
UNWORDED = ("notes",)


@dataclass(frozen=True, kw_only=True)
class DetectedFinding:
    """`params`: what it was told by, as JSON; `key` tells findings of one code and subject apart.

    `unowned` and `doubly_owned`: queues that its cause leaves to nobody or gives to two; these are not found once
    more. `queues`: those it is about otherwise. `since` is null where the check does not know it. `why`: a reason in
    the words of the check, which is not stored.
    """

    code: FindingCode
    params: Mapping[str, Any] = field(default_factory=dict)
    since: datetime | None = None
    key: str = ""
    group: str = ""
    broker: str = ""
    given_severity: FindingSeverity | None = None
    queues: Sequence[QueueKey] = ()
    unowned: Sequence[QueueKey] = ()
    doubly_owned: Sequence[QueueKey] = ()
    why: str = ""

    @property
    def spec(self) -> FindingSpec:
        return SPECS[self.code]

    @property
    def severity(self) -> FindingSeverity:
        return self.given_severity or self.spec.severity

    @property
    def all_params(self) -> dict[str, Any]:
        """With the queues, as they are stored."""
        named = dict(zip(PLACES, (self.queues, self.unowned, self.doubly_owned), strict=True))
        return {**self.params, **{name: _places(queues) for name, queues in named.items() if queues}}

    @property
    def title(self) -> str:
        return str(self.spec.title)

    @property
    def sentence(self) -> str:
        return finding_sentence(self.code, self.all_params, group=self.group, broker=self.broker, why=self.why)

    @property
    def remedy(self) -> str:
        return finding_remedy(self.code, self.params, group=self.group, broker=self.broker)

    @property
    def log(self) -> LogText | None:
        return log_text(self.code, self.group)

    @property
    def place(self) -> tuple[int, int, str]:
        """For sorting, the worst first."""
        return list(FindingSeverity).index(self.severity), list(FindingCode).index(self.code), self.key


@answer("One parameter of a finding, in words.")
@dataclass(frozen=True)
class FindingEvidence:
    name: str = field(metadata=public("The parameter, as in `params`"))
    text: str


@answer("Something that a check found wrong, or could not check (severity `unknown`).")
@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """A finding with its words."""

    code: str = field(metadata=public(of=FindingCode))
    severity: str = field(metadata=public(of=FindingSeverity))
    check: str = field(metadata=public(of=FindingCheck))
    subject: str = field(metadata=public("What it is about", of=FindingSubject))
    cluster: str
    group: str | None
    topic: str | None
    broker: str | None
    client_id: str | None
    title: str
    text: str
    help: str = field(metadata=public("What it means"))
    remedy: str = field(metadata=public("What to do"))
    log: str | None = field(metadata=public("What to search for, and in which log file"))
    params: Mapping[str, Any] = field(metadata=public("Numbers and names of the text"))
    evidence: list[FindingEvidence] = field(metadata=public("The parameters in words"))
    since: datetime | None = field(
        metadata=public("When it began; where the check cannot know, when it was first found")
    )
    last_seen_at: datetime = field(metadata=public("When it was last found"))
    documentation: str = field(metadata=public("The section of the documents that explains it"))
    unknown: Mapping[str, str] = field(default_factory=dict)


NO_GROUP = gettext_lazy("it concerns no single group")
NO_TOPIC = gettext_lazy("it concerns no single topic")
NO_BROKER = gettext_lazy("it concerns no single broker")
NO_CLIENT = gettext_lazy("it concerns no single client")
NO_LOG = gettext_lazy("no log has a line of it")
NO_SINCE = gettext_lazy("start unknown")


def finding_row(
    code: FindingCode,
    params: Mapping[str, Any],
    *,
    severity: str,
    cluster: str,
    group: str,
    broker: str,
    since: datetime | None,
    last_seen_at: datetime,
    why: str = "",
) -> FindingRow:
    spec, log = SPECS[code], log_text(code, group)
    values = {
        "group": group or None,
        "topic": _only_one(_named_topics(params)),
        "broker": broker or None,
        "client_id": _only_one(_named_clients(params)),
        "log": None if log is None else f"{log.file}: {log.text}",
        "since": since,
    }
    reasons = {
        "group": NO_GROUP,
        "topic": NO_TOPIC,
        "broker": NO_BROKER,
        "client_id": NO_CLIENT,
        "log": NO_LOG,
        "since": NO_SINCE,
    }
    return FindingRow(
        code=code.value,
        severity=severity,
        check=spec.check.value,
        subject=spec.subject.value,
        cluster=cluster,
        title=str(spec.title),
        text=finding_sentence(code, params, group=group, broker=broker, why=why),
        help=str(spec.help),
        remedy=finding_remedy(code, params, group=group, broker=broker),
        params=params,
        evidence=[
            FindingEvidence(name, text) for name, text in _param_words(params, why).items() if name not in UNWORDED
        ],
        last_seen_at=last_seen_at,
        documentation=spec.anchor,
        **values,  # type: ignore[arg-type]
        unknown=unknown_of(values, reasons),
    )


def detected_row(found: DetectedFinding, cluster: str, now: datetime) -> FindingRow:
    return finding_row(
        found.code,
        found.all_params,
        severity=found.severity.value,
        cluster=cluster,
        group=found.group,
        broker=found.broker,
        since=found.since,
        last_seen_at=now,
        why=found.why,
    )


def finding_sentence(
    code: FindingCode, params: Mapping[str, Any], *, group: str = "", broker: str = "", why: str = ""
) -> str:
    spec, words = SPECS[code], {"group": group, "broker": broker} | _param_words(params, why)
    template = str(spec.title if spec.sentence is None else spec.sentence)
    parts = [template % words, *(str(spec.notes[note]) % words for note in params.get("notes", ()))]
    if spec.sentence is None and params.get("brokers"):
        parts = [labelled(parts[0], words["brokers"]), *parts[1:]]
    effects = {
        "doubly_owned": gettext("Consumed by two: %(doubly_owned)s."),
        "unowned": gettext("Not consumed: %(unowned)s."),
    }
    said_already = [name for name in effects if f"%({name})s" in template]
    parts += [effect % words for name, effect in effects.items() if name in params and name not in said_already]
    return " ".join(filter(None, parts))


def _evidence_of_finding(values: Mapping[str, Any]) -> str:
    """Of AlertEvidence.FINDING."""
    names = {"group": values["group"], "broker": values["broker"]}
    return finding_sentence(FindingCode(values["finding"]), values["params"], **names)


WORDED_ABOVE[AlertEvidence.FINDING.value] = _evidence_of_finding


def finding_remedy(code: FindingCode, params: Mapping[str, Any], *, group: str = "", broker: str = "") -> str:
    return str(SPECS[code].remedy) % ({"group": group, "broker": broker} | _param_words(params))


def log_text(code: FindingCode, group: str) -> LogText | None:
    log = SPECS[code].log
    return None if log is None else replace(log, text=log.text % {"group": group})


def titled(codes: Iterable[str]) -> str:
    return listed(f"“{TITLES[FindingCode(code)]}”" for code in codes)


def _places(queues: Iterable[QueueKey]) -> dict[str, Any]:
    """`{"count": 7, "places": [["Orders", "broker-a", [0, 1]], …]}`."""
    ordered = sorted(queues)
    places = [
        [topic, broker, [queue.queue_id for queue in of_broker]]
        for (topic, broker), of_broker in groupby(ordered, key=lambda queue: (queue.topic, queue.broker))
    ]
    return {"count": len(ordered), "places": places[:MOST_STORED]}


def _only_one(names: Iterable[str]) -> str | None:
    """The name, where all are the same one."""
    found = set(names)
    return found.pop() if len(found) == 1 else None


def _named_topics(params: Mapping[str, Any]) -> Iterable[str]:
    if "topic" in params:
        yield params["topic"]
    yield from params.get("topics", ())
    for name in PLACES:
        # A number where nobody knows which.
        if isinstance(params.get(name), Mapping):
            yield from (topic for topic, _, _ in params[name]["places"])


def _named_clients(params: Mapping[str, Any]) -> Iterable[str]:
    yield from (params[name] for name in ("client_id", "holder") if name in params)
    for name in ("client_ids", "owners", "connections"):
        yield from params.get(name, ())


def _param_words(params: Mapping[str, Any], why: str = "") -> dict[str, str]:
    words = {name: _worded(name, value) for name, value in params.items()}
    if "why" in params:
        words["why"] = why or str(WHY.get(params["why"], params["why"]))
    return words


def _worded(name: str, value: Any) -> str:
    """By the name of the parameter, then by its type."""
    if name in FORMATS:
        return FORMATS[name](value)
    if name.endswith("_seconds"):
        return age(value)
    if name.endswith("_messages"):
        return messages(value)
    if isinstance(value, int):
        return count(value)
    if isinstance(value, Mapping):
        return _differing_values(value)
    if isinstance(value, list | tuple):
        return ids(map(str, value)) or str(VALUES["nobody"])
    return stored_words(str(VALUES.get(value, value)))


# Members and queues in sentences, many of them as few words.
def ids(client_ids: Iterable[str]) -> str:
    """`c1, c2, c3 and 9 more`."""
    named = sorted(set(client_ids))
    if len(named) <= MOST_IDS:
        return listed(named)
    shown = listed(named[: MOST_IDS - 1])
    return gettext("%(ids)s and %(n)s more") % {"ids": shown, "n": count(len(named) - MOST_IDS + 1)}


def queue_count(number: int) -> str:
    return ngettext("%(n)s queue", "%(n)s queues", number) % {"n": count(number)}


def _queues(value: Any) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–5)`, `412 queues of 3 topics`."""
    if isinstance(value, int):
        return queue_count(value)
    places = [place(topic, broker, numbers) for topic, broker, numbers in value["places"]]
    if len(places) <= MOST_PLACES:
        return gettext(" and ").join(places)
    topics = ids(topic for topic, _, _ in value["places"])
    return gettext("%(queues)s of %(topics)s") % {"queues": queue_count(value["count"]), "topics": topics}


def _differing_values(value: Mapping[str, Sequence[str]]) -> str:
    """`AVG (c1, c2); CIRCLE (c3)`, those that most say first."""
    ranked = sorted(value.items(), key=lambda item: (-len(item[1]), item[0]))
    return chained(f"{VALUES.get(name, name)} ({ids(members)})" for name, members in ranked)


def _topics(value: Any) -> str:
    """Names; `Orders has 2 queues`; or `Orders: * by c1, c3, not by c2; Payments: …`."""
    if not isinstance(value, Mapping):
        return ids(value)
    shown = [
        labelled(topic, _subscribed(subscriptions))
        if isinstance(subscriptions, Mapping)
        else gettext("%(topic)s has %(queues)s") % {"topic": topic, "queues": queue_count(subscriptions)}
        for topic, subscriptions in sorted(value.items())[:MOST_TOPICS]
    ]
    if len(value) > MOST_TOPICS:
        more = len(value) - MOST_TOPICS
        shown.append(ngettext("%(n)s more topic", "%(n)s more topics", more) % {"n": more})
    return chained(shown)


def _subscribed(subscriptions: Mapping[str, Sequence[str]]) -> str:
    parts = []
    for text, members in sorted(
        subscriptions.items(), key=lambda item: (item[0] == NOT_AT_ALL, -len(item[1]), item[0])
    ):
        template = gettext("%(text)s by %(ids)s") if text != NOT_AT_ALL else gettext("not by %(ids)s")
        parts.append(template % {"text": text, "ids": ids(members)})
    return clauses(parts)


def _missing(value: Mapping[str, Sequence[str]]) -> str:
    lacks = gettext("%(broker)s lacks %(ids)s")
    return chained(lacks % {"broker": broker, "ids": ids(members)} for broker, members in sorted(value.items()))


def _connections(value: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    parts = []
    for client_id, brokers in sorted(value.items()):
        broker, addresses = max(sorted(brokers.items()), key=lambda item: len(item[1]))
        words = {"id": client_id, "addresses": listed(addresses), "broker": broker}
        parts.append(gettext("%(id)s is connected to %(broker)s from %(addresses)s") % words)
    return chained(parts)


def _groups(value: int) -> str:
    return ngettext("%(n)s group", "%(n)s groups", value) % {"n": count(value)}


FORMATS: dict[str, Callable[[Any], str]] = {
    "queues": _queues,
    "unowned": _queues,
    "doubly_owned": _queues,
    "topics": _topics,
    "missing": _missing,
    "connections": _connections,
    "checks": titled,
    "levels": lambda levels: ", ".join(map(str, sorted(levels))),
    "groups": _groups,
    "file_finding": finding_words,
    "file_problem": lambda stored: problem_words(stored) or "",
}
