"""How long brokers, clusters and the site were not read: what stops many groups is told once, of itself."""

from typing import Any

import pytest

from consumers.alerts.measured import Measured
from consumers.models import Cluster, Measure, PipelineRun, SubjectKind
from tests.consumers.alerts.measures.group_rows import everything
from tests.world import (
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
REFUSED = "no name server answered: connection refused"


@pytest.fixture
def judged() -> None:
    PipelineRun.objects.create(since=ago(60), until=ago(20), started_at=ago(20), finished_at=ago(10))


def a_group_on(cluster: Cluster, name: str, broker: str) -> None:
    group = a_group(cluster, name)
    a_snapshot(group, a_queue(cluster, f"Of{name}", broker=broker), 1, 5)
    a_total(group, 4)
    a_judged_group(group, "STALL", rule="blocked")


def of_brokers(found: Measured) -> dict[str, float | None]:
    values = found.brokers.columns[Measure.BROKER_UNREAD].values
    return dict(zip([subject.broker for subject in found.brokers.subjects], values, strict=True))


def of_clusters(found: Measured, measure: Measure) -> dict[str, float | None]:
    values = found.clusters.columns[measure].values
    return dict(zip([subject.cluster for subject in found.clusters.subjects], values, strict=True))


def explained(found: Measured) -> dict[str, list[str]]:
    return {key: [one.group for one in groups] for key, groups in found.explained.items()}


def test_a_dead_broker_is_one_subject_with_the_groups_that_it_leaves_unknown(judged: None) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, "broker-b", since=ago(300))
    for name in ("billing", "shop"):
        a_group_on(cluster, name, "broker-b")
    a_group_on(cluster, "well", "broker-a")
    found = everything()
    assert of_brokers(found) == {"broker-a": 5.0, "broker-b": 300.0}
    assert explained(found) == {"broker:prod/broker-b": ["billing", "shop"]}
    column = found.brokers.columns[Measure.BROKER_UNREAD]
    assert column.evidence(1) == "broker-b could not be read: connection refused; last scraped 5 min ago"
    for measure, of_groups in found.groups.columns.items():
        assert [value is None for value in of_groups.values[:2]] == [True, True], measure
        assert of_groups.reason(0) == "broker-b could not be read: connection refused", measure
    assert found.groups.columns[Measure.LAG].values[2] == 4


def test_a_broker_that_was_never_read_counts_from_its_first_failure(judged: None) -> None:
    cluster = a_cluster()
    a_broker(cluster, "broker-b", last_read_at=None, failing_since=ago(90), error="timed out")
    assert of_brokers(everything()) == {"broker-b": 90.0}


def test_a_broker_that_has_not_had_its_turn_is_not_known(judged: None) -> None:
    a_broker(a_cluster(), "broker-b", last_read_at=None)
    found = everything()
    assert of_brokers(found) == {"broker-b": None}
    assert found.brokers.columns[Measure.BROKER_UNREAD].reason(0) == "broker-b has not been scraped yet"


def test_a_poll_worker_that_stops_is_the_matter_of_the_site_alone(judged: None) -> None:
    for name in ("prod", "test"):
        cluster = a_cluster(name, read_at=ago(200))
        a_broker(cluster, last_read_at=ago(200))
        a_group_on(cluster, "billing", "broker-a")
    found = everything()
    assert of_brokers(found) == {"broker-a": None}
    assert of_clusters(found, Measure.READING_AGE) == {"prod": None, "test": None}
    assert of_clusters(found, Measure.NAME_SERVER) == {"prod": None, "test": None}
    assert found.site.columns[Measure.READING_AGE].values == [200.0]
    assert explained(found) == {"site:": ["billing", "billing"]}


def test_one_cluster_of_several_that_is_not_read_is_its_own_matter(judged: None) -> None:
    for name, seconds in (("prod", 200), ("test", 5)):
        cluster = a_cluster(name, read_at=ago(seconds))
        a_broker(cluster, last_read_at=ago(seconds))
        a_group_on(cluster, "billing", "broker-a")
    found = everything()
    assert of_clusters(found, Measure.READING_AGE) == {"prod": 200.0, "test": 5.0}
    assert explained(found) == {"cluster:prod": ["billing"]}
    assert found.site.columns[Measure.READING_AGE].values == [5.0]


def test_a_cluster_that_was_never_read_counts_from_when_it_was_made(judged: None) -> None:
    a_cluster("prod")
    a_cluster("new", read_at=None)
    assert of_clusters(everything(), Measure.READING_AGE) == {"new": 86400.0, "prod": 5.0}


def test_name_servers_that_do_not_tell_are_the_clusters_matter_while_brokers_are_read(judged: None) -> None:
    cluster = a_cluster(read_at=ago(305))
    a_reading(cluster, ago(5), complete=False, error=REFUSED, brokers=[{"name": "broker-a", "read": True}])
    a_broker(cluster)
    found = everything()
    assert of_clusters(found, Measure.NAME_SERVER) == {"prod": 305.0}
    assert of_brokers(found) == {"broker-a": 5.0}
    assert found.clusters.columns[Measure.NAME_SERVER].evidence(0) == (
        f"{REFUSED}; name servers last listed its brokers 5 min 5 s ago"
    )


def test_without_any_broker_known_the_cluster_explains_its_groups(judged: None) -> None:
    cluster = a_cluster(read_at=None)
    a_reading(cluster, ago(5), complete=False, error=REFUSED)
    a_broker(cluster, last_read_at=ago(300), failing_since=ago(290), error=REFUSED)
    a_group_on(cluster, "billing", "broker-a")
    found = everything()
    assert of_brokers(found) == {"broker-a": None}
    assert explained(found) == {"cluster:prod": ["billing"]}


def test_a_pipeline_that_stops_explains_what_is_unknown_for_it_and_leaves_lags_and_last_states() -> None:
    PipelineRun.objects.create(since=ago(900), until=ago(600), started_at=ago(600), finished_at=ago(590))
    cluster = a_cluster()
    a_broker(cluster)
    a_total(group := a_group(cluster), 7)
    a_judged_group(group, judged_at=ago(600))
    # More than the 12 messages a second that were produced can explain.
    a_total(grown := a_group(cluster, "grown"), 7000)
    a_judged_group(grown, judged_at=ago(600))
    found = everything()
    assert found.site.columns[Measure.JUDGEMENT_AGE].values == [600.0]
    assert explained(found) == {"site:": ["grown"]}
    columns = found.groups.columns
    assert [columns[measure].values for measure in (Measure.LAG, Measure.STATE, Measure.UNKNOWN)] == [
        [7, 7000],
        ["OK", None],
        [0.0, None],
    ]
    assert columns[Measure.UNKNOWN].reason(1).startswith("evaluation is late")


def test_before_the_first_judgement_it_counts_from_the_first_cluster() -> None:
    a_cluster()
    column = everything().site.columns[Measure.JUDGEMENT_AGE]
    assert (column.values, column.evidence(0)) == (
        [86400.0],
        "never evaluated since the first cluster was added 1 d ago",
    )


def test_without_a_cluster_nothing_is_late() -> None:
    site = everything().site
    assert [subject.kind for subject in site.subjects] == [SubjectKind.SITE]
    assert [site.columns[measure].values for measure in (Measure.READING_AGE, Measure.JUDGEMENT_AGE)] == [[0.0], [0.0]]


def test_intervals_that_are_set_to_be_long_are_no_trouble(settings: Any) -> None:
    settings.CONSUMERSCOPE_POLL_SECONDS = settings.CONSUMERSCOPE_AGGREGATE_SECONDS = 600
    PipelineRun.objects.create(since=ago(900), until=ago(700), started_at=ago(600), finished_at=ago(590))
    a_broker(a_cluster(read_at=ago(500)), last_read_at=ago(500))
    found = everything()
    for table in (found.brokers, found.clusters, found.site):
        for measure, column in table.columns.items():
            if isinstance(measure, tuple):
                continue  # findings, which nobody has checked
            assert column.values[0] is not None
            if measure == Measure.LOST:
                continue  # no age
            assert column.values[0] >= 500
            assert column.suppressed(0) == column.evidence(0), measure


def test_what_is_late_is_not_spared() -> None:
    cluster = a_cluster(read_at=ago(200))
    a_dead_broker(cluster)
    found = everything()
    assert found.site.columns[Measure.READING_AGE].suppressed(0) is None
    assert found.site.columns[Measure.JUDGEMENT_AGE].suppressed(0) is None
    a_reading(cluster, ago(5))
    assert everything().brokers.columns[Measure.BROKER_UNREAD].suppressed(0) is None
