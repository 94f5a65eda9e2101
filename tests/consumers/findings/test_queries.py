"""Lists of findings: the worst first, with what could not be checked."""

import pytest

from consumers.findings.queries import FindingFilters, OpenFinding, finding_list, is_sought, sought_codes
from consumers.findings.record import record_clusters
from consumers.vocabulary.findings import FindingCode
from tests.health_rows import a_finding, was_checked
from tests.world import NOW, a_broker, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def told(page: int = 1, page_size: int = 50, **filters) -> list[tuple[str, str | None]]:
    found = finding_list(FindingFilters(**filters), NOW, page=page, page_size=page_size)
    return [(row.code, row.group) for row in found.rows]


@pytest.fixture
def groups():
    cluster = a_cluster()
    groups = {name: a_group(cluster, name) for name in ("billing", "mail")}
    was_checked(*groups.values())
    a_finding(groups["mail"], "too_few_queues", "info", params={"topic": "T", "queues": 1, "members": 2})
    a_finding(groups["billing"], "settings_differ", "warning", params={"setting": "x", "values": {}, "notes": []})
    a_finding(groups["mail"], "retries_discarded", params={"brokers": ["broker-a"]})
    a_finding(groups["billing"], "ownership_unknown", "unknown", params={"why": "silent"})
    a_finding(cluster, "late_delay_levels", broker="broker-a", since=ago(60), params=LATE)
    return groups


LATE = {"levels": [3], "worst_level": 3, "overdue_seconds": 66.0, "waiting_messages": 5}


def test_the_worst_come_first_and_the_newest_of_them(groups) -> None:
    assert told() == [
        ("late_delay_levels", None),
        ("retries_discarded", "mail"),
        ("settings_differ", "billing"),
        ("ownership_unknown", "billing"),
        ("too_few_queues", "mail"),
    ]


@pytest.mark.parametrize(
    ("filters", "codes"),
    [
        ({"severity": "critical"}, ["late_delay_levels", "retries_discarded"]),
        ({"code": "ownership_unknown"}, ["ownership_unknown"]),
        ({"group": "mail"}, ["retries_discarded", "too_few_queues"]),
        ({"cluster": "other"}, []),
    ],
)
def test_filters_narrow_the_list(groups, filters, codes) -> None:
    assert [code for code, _ in told(**filters)] == codes


def test_what_is_resolved_is_not_listed(groups) -> None:
    a_finding(groups["mail"], "lock_lost", resolved_at=ago(5))
    assert "lock_lost" not in dict(told())


def test_groups_that_were_never_checked_are_one_unknown_finding(groups) -> None:
    for name in ("audit", "stock"):
        a_group(groups["mail"].cluster, name)
    [row] = finding_list(FindingFilters(code="not_checked"), NOW, page=1, page_size=9).rows
    assert (row.severity, row.text) == ("unknown", "2 groups not checked.")


def test_findings_of_late_checks_stand_and_are_said_to_be_late(groups) -> None:
    was_checked(groups["mail"], seconds_ago=4000)
    found = finding_list(FindingFilters(group="mail"), NOW, page=1, page_size=9).rows
    assert [row.code for row in found] == ["not_checked", "retries_discarded", "too_few_queues"]
    assert found[0].text == "1 group not checked. Findings are as of the last check."


def test_pages_go_on_behind_late_checks(groups) -> None:
    a_group(groups["mail"].cluster, "audit")
    every = told()
    assert [told(page=page, page_size=2) for page in (1, 2, 3)] == [every[:2], every[2:4], every[4:]]


def test_a_row_says_what_it_means_and_what_to_do(groups) -> None:
    [row] = finding_list(FindingFilters(code="late_delay_levels"), NOW, page=1, page_size=9).rows
    assert row.text == (
        "broker-a delivers delayed messages late: the first of level 3 was due 1 min 6 s before the newest scrape. "
        "Late levels: 3, with 5 messages."
    )
    assert (row.broker, row.group, row.since) == ("broker-a", None, ago(60))
    assert row.unknown == {
        name: f"it concerns no single {noun}"
        for name, noun in (("group", "group"), ("topic", "topic"), ("client_id", "client"))
    }
    assert row.log == "broker.log: ScheduleMessageService, executeOnTimeUp exception"
    assert row.documentation == "findings.md#delay-levels"


def test_the_number_of_queries_does_not_grow_with_groups(groups, django_assert_max_num_queries) -> None:
    for number in range(9):
        a_finding(a_group(groups["mail"].cluster, f"group-{number}"), "retries_discarded")
    with django_assert_max_num_queries(4):
        finding_list(FindingFilters(), NOW, page=1, page_size=50)


@pytest.mark.parametrize(
    ("sought", "is_found"),
    [
        (["critical"], True),
        (["warning"], False),
        (["lock_lost"], True),
        (["critical", "-lock_lost"], False),
        (["-lock_lost"], False),
    ],
)
def test_a_rule_seeks_codes_and_severities(sought, is_found) -> None:
    found = OpenFinding("lock_lost", "critical", 1, 1, "billing", "", {}, NOW)
    assert is_sought(found, sought) is is_found


def test_a_severity_may_be_of_any_code_but_those_that_are_left_out() -> None:
    assert sought_codes(["lock_lost"]) == {FindingCode.LOCK_LOST}
    assert sought_codes(["critical", "-lock_lost"]) == set(FindingCode) - {FindingCode.LOCK_LOST}


def unchecked(**filters) -> int:
    return finding_list(FindingFilters(**filters), NOW, page=1, page_size=50).unchecked


@pytest.mark.parametrize(
    ("filters", "number"),
    [
        ({}, 0),
        ({"severity": "unknown"}, 0),
        ({"severity": "critical"}, 1),
        ({"code": "lock_lost"}, 1),
        ({"code": "lock_lost", "group": "mail"}, 0),
        ({"code": "retries_discarded"}, 0),
        ({"code": "ownership_unknown"}, 0),
    ],
)
def test_what_filters_seek_and_could_not_be_checked_is_counted(groups, filters, number) -> None:
    assert unchecked(**filters) == number


def test_retry_checks_that_are_unknown_are_counted_by_their_names(groups) -> None:
    a_finding(groups["mail"], "retry_checks_unknown", "unknown", params={"checks": ["retries_discarded"]})
    assert (unchecked(code="retries_discarded"), unchecked(code="not_retried")) == (1, 0)


def test_late_checks_may_miss_any_finding(groups) -> None:
    a_group(groups["mail"].cluster, "late")
    assert (unchecked(code="retries_discarded"), unchecked(code="not_checked")) == (1, 0)


def test_a_cluster_of_which_nothing_was_scraped_was_not_checked() -> None:
    a_cluster("empty", read_at=None)
    [row] = finding_list(FindingFilters(), NOW, page=1, page_size=50).rows
    assert (row.code, row.cluster, row.severity) == ("not_checked", "empty", "unknown")
    assert row.text == "No group or broker of the cluster was scraped yet."


def test_a_cluster_without_groups_whose_brokers_were_scraped_was_checked() -> None:
    a_broker(a_cluster("empty", checked_at=None))
    record_clusters(NOW)
    assert told(code="not_checked") == []


@pytest.mark.parametrize(
    ("checked_at", "since", "text"),
    [
        (None, ago(86400), "Brokers, committed offsets and offset files not checked."),
        (
            ago(4000),
            ago(4000),
            "Brokers, committed offsets and offset files not checked. Findings are as of the last check.",
        ),
    ],
)
def test_a_cluster_without_groups_that_was_not_checked_of_late_is_not_said_to_be_well(checked_at, since, text) -> None:
    a_broker(a_cluster("empty", checked_at=checked_at))
    [row] = finding_list(FindingFilters(), NOW, page=1, page_size=50).rows
    assert (row.code, row.since, row.text) == ("not_checked", since, text)
