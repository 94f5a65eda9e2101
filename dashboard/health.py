"""Whether everything behind the pages works, part by part. Ready when every part is well; a part says its age."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.db.models import Max, Min
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from consumers.alerts.queries.deliveries import waiting_messages
from consumers.clock.status import change_words, clock_status, hold_words
from consumers.clusters.pipeline_runs import late_evaluation
from consumers.lake.store import Lake, free_mib
from consumers.lake.unreadable import FOLDER, files_put_aside
from consumers.models import Cluster, ConsumerGroup, GroupHealth, PipelineRun, Reading
from consumers.polling.record.recorder import HISTORY_ERROR
from consumers.queries.limits import CLOCKS_DIFFER, Freshness, Limits, evaluated, limits
from consumers.queries.read_only import words_that_protect_nothing
from consumers.rest.access import TokenAuthentication
from dashboard.settings.home import OTHERS


def private_home(**_: Any) -> list[checks.CheckMessage]:
    """The settings close the home; they cannot close one that belongs to somebody else."""
    home = settings.CONSUMERSCOPE_HOME
    if not home.stat().st_mode & OTHERS:
        return []
    return [
        checks.Warning(
            f"Other users of this machine can open the home, {home}: database, history and secret key are in it.",
            hint=f"'chmod 700 {home}' by its owner closes it. Or set CONSUMERSCOPE_HOME to a folder of your own.",
            id="consumerscope.W002",
        )
    ]


def read_only_clusters(*, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """A cluster whose name or address was misspelt in the setting is not protected."""
    if not databases or Cluster._meta.db_table not in connection.introspection.table_names():
        return []
    return [
        checks.Warning(
            f"CONSUMERSCOPE_READ_ONLY_CLUSTERS names {name!r}, and no registered cluster has that name or address.",
            hint="'manage.py cluster list' tells names and name servers; names are compared exactly.",
            id="consumerscope.W001",
        )
        for name in words_that_protect_nothing()
    ]


def clusters_of_sign_on(*, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """A role for a cluster whose name was misspelt in the setting is nobody's."""
    if not databases or Cluster._meta.db_table not in connection.introspection.table_names():
        return []
    roles = set().union(*settings.CONSUMERSCOPE_OIDC_ROLES.values())
    named = {cluster for _role, cluster in roles if cluster}
    return [
        checks.Warning(
            f"CONSUMERSCOPE_OIDC_ROLES names the cluster {name!r}, which is not registered: nobody has a role for it.",
            hint="'manage.py cluster list' tells names; they are compared exactly.",
            id="consumerscope.W002",
        )
        for name in sorted(named - set(Cluster.objects.values_list("name", flat=True)))
    ]


REDIS_ANSWER_SECONDS = 1.0
# A receiver that is restarted is no news.
FILES_NAMED = 3
MESSAGES_WAIT = timedelta(minutes=5)
# The general worker looks at the health of all groups all the time; a round of it may take a while.
LEAST_ROUND_SECONDS = 30.0
# Parts that the database is asked for.
ASKING = (
    "poll_worker",
    "spark_worker",
    "general_worker",
    "judgement",
    "alerts",
    "history",
    "read_only_clusters",
    "clock",
)
NO_FLOOR = "history lies in an object store, which has no floor"
NO_CLUSTER = "no cluster is registered: 'manage.py cluster add' registers one"


@dataclass(frozen=True)
class Part:
    """`well` is null where it could not be asked; `age_seconds` is null where nothing has happened yet."""

    well: bool | None
    detail: str
    age_seconds: float | None = None


@dataclass(frozen=True)
class Readiness:
    """`parts` by name: database, redis, disk, and those of ASKING; `readings` by cluster."""

    ready: bool
    detail: str
    parts: dict[str, Part]
    readings: dict[str, Part]


def readiness(now: datetime) -> Readiness:
    parts = {"redis": _redis(), "disk": _disk()}
    readings: dict[str, Part] = {}
    fine = "every part is well"
    try:
        clusters, limit = list(Cluster.objects.order_by("name")), limits()
        readings = {cluster.name: _reading(cluster, now, limit) for cluster in clusters}
        parts["poll_worker"] = _poll_worker(readings)
        parts["spark_worker"] = _spark_worker(clusters, now, limit)
        parts["general_worker"] = _general_worker(now)
        parts["judgement"] = _judgement(clusters, now, limit)
        parts["alerts"] = _alerts(clusters, now, limit)
        parts["history"] = _history(clusters)
        parts["read_only_clusters"] = _read_only_clusters()
        parts["clock"] = _clock(now)
        parts["database"] = Part(True, "it answers")
        fine = fine if clusters else NO_CLUSTER
    except DatabaseError as error:
        parts |= dict.fromkeys(ASKING, Part(None, "the database was not asked"))
        parts["database"] = Part(False, f"it does not answer: {error}")
    named = parts | {f"reading of {name}": part for name, part in readings.items()}
    unwell = [f"{name}: {part.detail}" for name, part in named.items() if not part.well]
    return Readiness(not unwell, "; ".join(unwell) or fine, parts, readings)


def _redis() -> Part:
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=REDIS_ANSWER_SECONDS, socket_connect_timeout=REDIS_ANSWER_SECONDS
    )
    try:
        client.ping()
    except redis.exceptions.RedisError as error:
        return Part(False, f"Redis does not answer: {error}")
    finally:
        client.close()
    return Part(True, "it answers")


def _disk() -> Part:
    """Of the lake, and of a database that is a file: nothing is recorded any more once its disk is full."""
    floor = settings.LAKE_DISK_FLOOR_MIB
    found = {"history": free_mib(Lake.at(settings.CONSUMERSCOPE_LAKE))}
    if connection.vendor == "sqlite" and not connection.is_in_memory_db():  # type: ignore[attr-defined]
        found["database"] = free_mib(Lake.at(str(Path(connection.settings_dict["NAME"]).parent)))
    lacks = {
        "history": "no history is written",
        "database": "nothing is recorded once it is full",
    }
    words = [
        f"{free:,.0f} MiB free, less than the floor of {floor:,.0f} MiB: {lacks[name]}"
        for name, free in found.items()
        if free is not None and free < floor
    ]
    if words:
        return Part(False, "; ".join(words))
    known = [free for free in found.values() if free is not None]
    parts = [f"{min(known):,.0f} MiB free, the floor is {floor:,.0f} MiB"] if known else []
    return Part(True, "; ".join([*parts, *([NO_FLOOR] if found["history"] is None else [])]))


def _history(clusters: list[Cluster]) -> Part:
    """Files that were put aside are told here and do not take the pages away: all that can be read is shown."""
    newest = {cluster.name: Reading.objects.filter(cluster=cluster).first() for cluster in clusters}
    unwritten = {
        name: row.members[HISTORY_ERROR] for name, row in newest.items() if row and HISTORY_ERROR in row.members
    }
    if unwritten:
        named = "; ".join(f"{name}: {reason}" for name, reason in unwritten.items())
        return Part(False, f"the newest reading is missing in it, and is in no window: {named}")
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    try:
        aside = files_put_aside(lake)
    except OSError as error:
        return Part(False, f"its folder cannot be read: {error}")
    if not aside:
        return Part(True, "it is written, and every file of it that was opened could be read")
    some = ", ".join(aside[:FILES_NAMED]) + (" …" if len(aside) > FILES_NAMED else "")
    files = "1 file" if len(aside) == 1 else f"{len(aside)} files"
    return Part(
        True,
        f"{files} could not be read, and what they held is missing: see {lake.path(FOLDER)}: {some}",
    )


def _reading(cluster: Cluster, now: datetime, limit: Limits) -> Part:
    """A reading that reached no broker at all is none."""
    come = Reading.objects.filter(cluster=cluster, taken_at__lte=now + CLOCKS_DIFFER)
    newest = come.exclude(error__isnull=False, brokers=[]).first()
    if newest is None:
        return Part(False, "it has not been scraped yet")
    age = (now - newest.taken_at).total_seconds()
    if newest.taken_at < limit.read_since(now):
        return Part(False, f"the last reading is older than {limit.late_seconds:g} s", age)
    return Part(True, "whole" if newest.complete else "a broker of it was not read", age)


def _poll_worker(readings: dict[str, Part]) -> Part:
    ages = [part.age_seconds for part in readings.values() if part.age_seconds is not None]
    if not readings:
        return Part(True, NO_CLUSTER)
    if not ages:
        return Part(False, "it has read nothing yet")
    working = any(part.well for part in readings.values())
    return Part(working, "it reads" if working else "it has stopped reading", min(ages))


def _spark_worker(clusters: list[Cluster], now: datetime, limit: Limits) -> Part:
    """One that is in the middle of a run is at work for as long as a run may take."""
    newest = PipelineRun.objects.first()
    if newest is None:
        return _due(clusters, now, limit, "it has run nothing yet")
    age = (now - newest.started_at).total_seconds()
    allowed = (
        limit.judged_seconds if newest.finished_at else max(limit.judged_seconds, settings.SPARK_RUN_LIMIT_SECONDS)
    )
    working = age <= allowed or not clusters
    return Part(working, "it runs" if working else "it has stopped running", age)


def _general_worker(now: datetime) -> Part:
    """It applies resets, re-sends and exports too: who waits for one of these is told here that nobody takes it up."""
    first = ConsumerGroup.objects.aggregate(Min("first_seen_at"))["first_seen_at__min"]
    if first is None:
        return Part(True, "there is no group yet that it could look at")
    newest = GroupHealth.objects.aggregate(Max("noted_at"))["noted_at__max"]
    age = (now - (newest or first)).total_seconds()
    working = age <= max(LEAST_ROUND_SECONDS, 4 * settings.HEALTH_SECONDS)
    words = "it works" if working else "it has stopped working: see that a worker of the queue general runs"
    return Part(working, words if newest else "it has looked at no group yet", age if newest else None)


def _judgement(clusters: list[Cluster], now: datetime, limit: Limits) -> Part:
    good = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now + CLOCKS_DIFFER)
    newest = good.order_by("-until").first()
    if newest is None:
        return _due(clusters, now, limit, "nothing has been judged yet")
    age = (now - newest.until).total_seconds()
    late = late_evaluation(now)
    return Part(late is None, "fresh" if late is None else f"older than {limit.judged_seconds:g} s: {late.cause}", age)


def _alerts(clusters: list[Cluster], now: datetime, limit: Limits) -> Part:
    """A receiver that takes no messages is told here and does not take the pages away."""
    evaluation = evaluated(now)
    if evaluation.at is None:
        return _due(clusters, now, limit, evaluation.freshness_detail)
    channels = waiting_messages(now)
    stuck = [row for row in channels if row.since is not None and now - row.since > MESSAGES_WAIT]
    waiting = [f"{row.channel}: {row.messages} since {row.since:%Y-%m-%d %H:%M} UTC" for row in stuck]
    is_silent = evaluation.freshness == Freshness.SILENT and evaluation.error is None
    advice = ": see that a worker of the queue alerts runs" if is_silent else ""
    words = [evaluation.freshness_detail + advice, *(["messages wait: " + ", ".join(waiting)] if waiting else [])]
    failing = [row.channel for row in channels if row.failing is not None and row.failing > MESSAGES_WAIT]
    words += ["nothing is taken through: " + ", ".join(failing)] if failing else []
    # One of a moment to come keeps all others away until then.
    goes_on = evaluation.freshness != Freshness.SILENT and evaluation.at - now <= CLOCKS_DIFFER
    age = max(0.0, (now - evaluation.at).total_seconds())
    return Part(goes_on or not clusters, "; ".join(words), age)


def _read_only_clusters() -> Part:
    """A misspelt name is told here and does not take the pages away: everything else works."""
    named = settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS
    strange = ", ".join(words_that_protect_nothing())
    if strange:
        return Part(True, f"no registered cluster has a name or address of CONSUMERSCOPE_READ_ONLY_CLUSTERS: {strange}")
    return Part(True, ", ".join(named) if named else "none")


def _clock(now: datetime) -> Part:
    """A clock that was set is told here and does not take the pages away: what it made wrong is put right."""
    status = clock_status(now)
    words = [change_words(change) for change in status.changes]
    words += [hold_words(status.hold)] if status.hold else []
    words += [] if status.is_watched else ["no worker has watched its clock in the last 24 hours"]
    return Part(True, " ".join(words) or "it goes evenly")


def _due(clusters: list[Cluster], now: datetime, limit: Limits, detail: str) -> Part:
    """What has never happened is a fault only once it should have."""
    if not clusters:
        return Part(True, NO_CLUSTER)
    due = min(cluster.created_at for cluster in clusters) + timedelta(seconds=limit.judged_seconds)
    return Part(now < due, detail if now < due else f"{detail}, and it should have")


# `/healthz`: this process answers. `/readyz`: whether what it shows is fresh, part by part.
#
# Open to all, as probes have no account. Names of clusters and channels, and errors, are for those who are logged in.
@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"live": True})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    answer = readiness(timezone.now())
    status = HTTPStatus.OK if answer.ready else HTTPStatus.SERVICE_UNAVAILABLE
    response = JsonResponse(asdict(answer) if _is_known(request) else _for_anybody(answer), status=status)
    patch_vary_headers(response, ("Authorization", "Cookie"))
    return response


def _is_known(request: HttpRequest) -> bool:
    """By a session or a token. Without the database nobody is."""
    try:
        return request.user.is_authenticated or TokenAuthentication().authenticate(Request(request)) is not None
    except (AuthenticationFailed, DatabaseError):
        return False


def _for_anybody(answer: Readiness) -> dict[str, Any]:
    return {
        "ready": answer.ready,
        "detail": _("To see details, log in or send a token."),
        "parts": {name: {"well": part.well} for name, part in answer.parts.items()},
    }
