"""One evaluation's columns: only those that a rule needs."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime

from django.db.models import Min
from django.utils.translation import gettext

from consumers.alerts.measured import Column, Measured, Table
from consumers.alerts.rules.notes import Notes
from consumers.alerts.subjects import SITE, Subject
from consumers.groups.overlay import Overlay
from consumers.groups.row import YOUNG_LAG
from consumers.models import AlertRule, Cluster, Measure, PipelineRun, State, SubjectKind
from consumers.queries.brokers import BrokerAge, ClusterAge
from consumers.queries.queues.lost_offsets import BrokerLoss, broker_loss_words, broker_losses, last_read, seen_on
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.sentences import queue_words, sentence, state_parts
from consumers.queries.texts import age, messages
from consumers.selectors.resets.causes import RULES, Jump, causes

from .ages import Age, age_column, age_table
from .blocked import blocked, blocked_column, standing
from .clusters import clusters
from .columns import drain, expired, judged_reason, lag, members, retry_share, time_lag
from .expiry import expiry
from .explained import Explainer, broker_subject
from .number_column import number_column
from .ownership import doubly_owned, unowned
from .scan import GroupScan, parsed, scanned
from .silent import silent_groups
from .spared import spared_waiting
from .state import state
from .topic_parts import JudgedPart, TopicPart, topic_parts, worst
from .unknown import unknown
from .unsettled import unsettled
from .volumes import dlq_inflow, rebalances

# Groups' parts of the topics that rules name.

Parts = Sequence[TopicPart]


def topics(scan: GroupScan, notes: Notes, wanted: Mapping[str, Set[Measure]]) -> dict[str, Table]:
    """`wanted`: the measures of each topic. Groups that have no offsets of a topic are not in its table."""
    return {topic: _table(scan, notes, topic, measures) for topic, measures in wanted.items()}


def _table(whole: GroupScan, notes: Notes, topic: str, wanted: Set[Measure]) -> Table:
    parts = topic_parts(whole, topic)
    scan = _of_parts(whole, parts, topic)
    makes: dict[Measure, Callable[[], Column]] = {
        Measure.STATE: lambda: _state(whole, scan, parts, topic),
        Measure.LAG: lambda: _lag(scan, parts),
        Measure.TIME_LAG: lambda: _time_lag(scan, parts),
        Measure.UNOWNED: lambda: unowned(scan, topic),
        Measure.DOUBLY_OWNED: lambda: doubly_owned(scan, topic),
        Measure.BLOCKED: lambda: blocked_column(scan, standing(scan.now, queue__topic__name=topic), silent_groups()),
    }
    columns = {measure: make() for measure, make in makes.items() if measure in wanted}
    return Table(scan.subjects, columns, notes.labels(scan.subjects))


def _of_parts(whole: GroupScan, parts: Parts, topic: str) -> GroupScan:
    """The rows of their groups, as subjects of the topic."""
    rows = [whole.rows[part.place] for part in parts]
    subjects = [replace(whole.subjects[part.place], kind=SubjectKind.TOPIC, topic=topic) for part in parts]
    return GroupScan(whole.overlay, whole.explainer, rows, subjects)


def _lag(scan: GroupScan, parts: Parts) -> Column:
    return number_column(
        [part.lag_messages for part in parts],
        lambda place: parts[place].lag_reason,
        lambda value: gettext("%s behind") % messages(round(value)),
        spared=lambda place: spared_waiting(scan, place),
    )


def _time_lag(scan: GroupScan, parts: Parts) -> Column:
    def value(place: int) -> float | None:
        part = parts[place]
        if part.lag_messages == 0:
            return 0.0
        return None if scan.unjudged_reason(place) else part.time_lag_seconds

    def reason(place: int) -> str:
        part = parts[place]
        return part.lag_reason if part.lag_messages is None else scan.unjudged_reason(place) or str(YOUNG_LAG)

    return number_column(
        [value(place) for place in range(len(parts))],
        reason,
        lambda value: gettext("its oldest message waits for %s") % age(value),
        spared=lambda place: spared_waiting(scan, place),
    )


def _state(whole: GroupScan, scan: GroupScan, parts: Parts, topic: str) -> Column:
    # Of a group that was never evaluated nothing is judged; of one whose evaluation is late, what still holds.
    found = [
        (State.UNKNOWN, None) if row.judged_at is None else worst(whole, part)
        for row, part in zip(scan.rows, parts, strict=True)
    ]

    def reason(place: int) -> str:
        judged = found[place][1]
        if judged is None:
            return judged_reason(scan, place) or str(NOT_JUDGED_YET)
        return sentence(state_parts(State.UNKNOWN, judged.rule, parsed(judged.detail)))

    def evidence(place: int) -> str:
        state, judged = found[place]
        if judged is None:
            return reason(place) if state == State.UNKNOWN else sentence(state_parts(state, None, {}))
        where = queue_words(topic, judged.broker, judged.queue_id)
        return sentence(state_parts(state, judged.rule, parsed(judged.detail), place=where))

    def since(place: int) -> datetime | None:
        judged = found[place][1]
        return judged.since if judged is not None else None

    moved = _moved(scan, topic, [judged for _, judged in found])
    values = [None if state == State.UNKNOWN else state for state, _ in found]
    return Column(values, reason, evidence, since, moved.get)


def _moved(scan: GroupScan, topic: str, found: Sequence[JudgedPart | None]) -> dict[int, str]:
    """Places whose offset somebody set from here, and who. One query, none where no offset jumped."""
    jumps: dict[int, Jump] = {}
    for place, judged in enumerate(found):
        at = scan.rows[place].judged_at
        if judged is not None and judged.rule in RULES and at is not None:
            where = (topic, judged.broker, judged.queue_id)
            jumps[place] = Jump(judged.group_id, *where, judged.rule, judged.since, at)
    said = causes(jumps.values())
    return {place: said[jump]["cause"] for place, jump in jumps.items() if "reset" in said[jump]}


# How long each broker has not been read, where it is its own matter, and how many committed offsets it lost.

# By the cluster's id and the broker's name.
Losses = Mapping[tuple[int, str], BrokerLoss]


def brokers(explainer: Explainer, wanted: Set[Measure], losses: Losses) -> Table:
    """The brokers of all clusters; a slave counts with its master. No query."""
    found = [(cluster, broker) for cluster in explainer.overlay.clusters.values() for broker in cluster.brokers]
    subjects = [broker_subject(cluster, broker) for cluster, broker in found]
    columns: dict[Measure, Column] = {}
    if Measure.BROKER_UNREAD in wanted:
        columns[Measure.BROKER_UNREAD] = age_column([_unread(explainer, *one) for one in found])
    if Measure.LOST in wanted:
        columns[Measure.LOST] = _lost(explainer, found, losses)
    return Table(subjects, columns, [{} for _ in subjects])


def _lost(explainer: Explainer, found: Sequence[tuple[ClusterAge, BrokerAge]], losses: Losses) -> Column:
    """What a broker that is not read has lost nobody knows."""
    overlay = explainer.overlay
    unread = [broker.unread_reason(overlay.now, overlay.limits) for _, broker in found]
    lost = [losses.get((cluster.id, broker.name)) for cluster, broker in found]

    def evidence(place: int) -> str:
        loss = lost[place]
        if loss is None:
            return gettext("no committed offset is gone from it")
        slave = [] if loss.from_slave is None else [seen_on(loss.from_slave)]
        return sentence([broker_loss_words(loss), *last_read(loss.lost_at), *slave])

    def since(place: int) -> datetime | None:
        loss = lost[place]
        return None if loss is None else loss.lost_at

    return Column(
        values=[
            None if why is not None else float(loss.queues if loss else 0)
            for why, loss in zip(unread, lost, strict=True)
        ],
        reason=lambda place: unread[place] or "",
        evidence=evidence,
        since=since,
    )


def _unread(explainer: Explainer, cluster: ClusterAge, broker: BrokerAge) -> Age:
    overlay = explainer.overlay
    reason = broker.unread_reason(overlay.now, overlay.limits)
    if explainer.of_cluster(cluster) is not None:
        # Nobody asks it: that is told of the cluster, or of the site.
        return Age(None, explainer.reason(cluster.id, broker.id))
    # One that was never read is so at least since it first failed.
    since = broker.last_read_at or broker.failing_since
    if since is None:
        return Age(None, reason or gettext("%s has not been read yet") % broker.name)
    seconds = age((overlay.now - since).total_seconds())
    if reason is None:
        return Age.counted(since, overlay.now, gettext("read %s ago") % seconds, is_due=True)
    words = {"reason": reason, "age": seconds}
    if broker.last_read_at is None:
        return Age.counted(since, overlay.now, gettext("%(reason)s; never read, tried for %(age)s") % words)
    return Age.counted(since, overlay.now, gettext("%(reason)s; last read %(age)s ago") % words)


# How long nothing at all has been read, or judged.


def site(explainer: Explainer, wanted: Set[Measure]) -> Table:
    """One query at most."""
    ages: dict[Measure, list[Age]] = {}
    if wanted & {Measure.READING_AGE, Measure.JUDGEMENT_AGE}:
        first = Cluster.objects.aggregate(at=Min("created_at"))["at"]
        if Measure.READING_AGE in wanted:
            ages[Measure.READING_AGE] = [_reading(explainer, first)]
        if Measure.JUDGEMENT_AGE in wanted:
            ages[Measure.JUDGEMENT_AGE] = [_judgement(explainer, first)]
    return age_table([SITE], dict(ages))


def _reading(explainer: Explainer, first: datetime | None) -> Age:
    """The newest reading of any cluster; before the first one it counts from when there was something to read."""
    times = [one.newest_reading_at for one in explainer.overlay.clusters.values() if one.newest_reading_at is not None]
    since, now = max(times, default=first), explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to read"))
    seconds = age((now - since).total_seconds())
    if not times:
        return Age.counted(since, now, gettext("no cluster has been read yet, for %s") % seconds)
    is_due = not explainer.nothing_is_polled
    return Age.counted(since, now, gettext("a cluster was last read %s ago") % seconds, is_due=is_due)


def _judgement(explainer: Explainer, first: datetime | None) -> Age:
    since, now = explainer.judged_until or first, explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to judge"))
    seconds = age((now - since).total_seconds())
    if explainer.judged_until is None:
        return Age.counted(since, now, gettext("nothing has been judged yet, for %s") % seconds)
    is_due = not explainer.nothing_is_judged
    return Age.counted(since, now, gettext("what was read was last judged %s ago") % seconds, is_due=is_due)


# The groups with their columns: each made only where a rule wants it.

COLUMNS: dict[Measure, Callable[[GroupScan], Column]] = {
    Measure.STATE: state,
    Measure.LAG: lag,
    Measure.TIME_LAG: time_lag,
    Measure.EXPIRY: expiry,
    Measure.DRAIN: drain,
    Measure.EXPIRED: expired,
    Measure.RETRY_SHARE: retry_share,
    Measure.DLQ_INFLOW: dlq_inflow,
    Measure.REBALANCES: rebalances,
    Measure.UNSETTLED: unsettled,
    Measure.UNOWNED: unowned,
    Measure.DOUBLY_OWNED: doubly_owned,
    Measure.BLOCKED: blocked,
    Measure.MEMBERS: members,
    Measure.UNKNOWN: unknown,
}


def groups(scan: GroupScan, notes: Notes, wanted: Set[Measure]) -> Table:
    columns = {measure: make(scan) for measure, make in COLUMNS.items() if measure in wanted}
    return Table(scan.subjects, columns, notes.labels(scan.subjects))


def measured(now: datetime, rules: Sequence[AlertRule]) -> Measured:
    """Of user groups that are no ghosts, their brokers, their clusters and the site, for the enabled ones of `rules`.

    Columns that no rule needs are left out, as is a topic that none names. A fixed number of queries, however many
    groups; some more for each topic.
    """
    explainer = Explainer(Overlay.at(now), _judged_until(now))
    scan, notes = scanned(explainer.overlay, explainer), Notes.of_site()
    enabled = [rule for rule in rules if rule.enabled]
    wanted = frozenset(Measure(rule.measure) for rule in enabled if not rule.topic)
    losses = broker_losses(explainer.overlay.slaves) if Measure.LOST in wanted else []
    return Measured(
        at=now,
        groups=groups(scan, notes, wanted),
        topics=topics(scan, notes, _by_topic(enabled)),
        brokers=brokers(explainer, wanted, {(loss.cluster_id, loss.broker): loss for loss in losses}),
        clusters=clusters(explainer, wanted),
        site=site(explainer, wanted),
        explained=_explained(scan, losses),
    )


def _judged_until(now: datetime) -> datetime | None:
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now)
    return done.order_by("-until").values_list("until", flat=True).first()


def _by_topic(rules: Iterable[AlertRule]) -> Mapping[str, frozenset[Measure]]:
    found: dict[str, frozenset[Measure]] = {}
    for rule in rules:
        if rule.topic:
            found[rule.topic] = found.get(rule.topic, frozenset()) | {Measure(rule.measure)}
    return found


def _explained(scan: GroupScan, losses: Sequence[BrokerLoss]) -> dict[str, list[Subject]]:
    """By the key of what leaves them unknown; a group is counted once, with what keeps it from being read first. Those
    whose offsets are gone from a broker that is read are that broker's, too."""
    found: dict[str, list[Subject]] = {}
    read = {
        (cluster.id, broker.name): broker_subject(cluster, broker).key
        for cluster in scan.overlay.clusters.values()
        for broker in cluster.brokers
        if not scan.overlay.is_unread(broker)
    }
    for loss in losses:
        if (key := read.get((loss.cluster_id, loss.broker))) is not None:
            found[key] = [
                Subject(SubjectKind.GROUP, loss.cluster, group=name, group_id=pk) for pk, name in loss.groups.items()
            ]
    for place, row in enumerate(scan.rows):
        if row.unread_by is not None:
            key = scan.explainer.of_group(row.cluster_id, row.unread_by).key
        elif scan.explainer.nothing_is_judged and row.state == State.UNKNOWN and scan.unjudged_reason(place):
            # The others keep their last state.
            key = SITE.key
        else:
            continue
        found.setdefault(key, []).append(scan.subjects[place])
    return found
