"""What a file names and the cluster does not know; files that nobody writes any more."""

from dataclasses import replace
from datetime import timedelta

import pytest

from consumers.stores.checks import KnownNames, PresentMembers, mark_abandoned, mark_unknown_names
from tests.consumers.stores.stored_samples import NOW, a_failed_file, a_file, a_row, names, said

ORDERS = a_row("billing", "Orders", 0, 7)
NOTHING_READ = KnownNames(topics=None, groups=None, brokers=None, members={})
KNOWN = KnownNames(frozenset({"Orders"}), frozenset({"billing", "crowd"}), frozenset({"broker-a"}), {})
OLD, RECENT = NOW - timedelta(minutes=10, seconds=1), NOW - timedelta(minutes=10)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (a_row("billing", "Payments", 0, 7), "No topic of the cluster is named Payments"),
        (a_row("bilking", "Orders", 0, 7), "No group of the cluster is named bilking"),
        (a_row("billing", "Orders", 0, 7, broker="broker-z"), "No broker of the cluster is named broker-z"),
    ],
)
def test_a_row_that_names_what_the_cluster_has_not_says_so(row, sentence):
    marked = mark_unknown_names(a_file(ORDERS, row), KNOWN)
    assert said(marked)[0] is None
    assert sentence in said(marked)[1]


def test_what_was_not_read_judges_nothing():
    assert mark_unknown_names(a_file(a_row("x", "Y", 0, 7, broker="z"), broker="z"), NOTHING_READ).findings == ()


def test_a_missing_name_is_not_an_unknown_one():
    assert (
        said(mark_unknown_names(a_file(a_row(None, "Orders", 0, 7), a_row("billing", None, 0, 7)), KNOWN)) == [None] * 2
    )


def test_the_same_sentence_is_listed_once():
    marked = mark_unknown_names(a_file(*(a_row("billing", "Payments", n, 7) for n in range(5))), KNOWN)
    assert (names(marked), len([text for text in said(marked) if text])) == (["unknown_topic"], 5)


def test_a_file_of_a_broker_that_the_cluster_has_not_says_so():
    assert names(mark_unknown_names(a_file(ORDERS, broker="broker-z"), KNOWN)) == ["unknown_broker"]


def a_client_file(modified_at, client_id="10.0.0.1@c"):
    row = a_row("crowd", "Orders", 0, 7, broker="broker-a")
    return a_file(row, kind="consumer_file", modified_at=modified_at, client_id=client_id, group="crowd")


def with_members(client_ids, message_model="BROADCASTING"):
    return replace(KNOWN, members={"crowd": PresentMembers(client_ids, message_model)})


@pytest.mark.parametrize(
    ("modified_at", "members", "found"),
    [
        (OLD, frozenset({"10.0.0.2@c"}), ["left_behind"]),
        (OLD, frozenset(), ["left_behind"]),
        (RECENT, frozenset(), []),
        (OLD, frozenset({"10.0.0.1@c"}), ["stale"]),
        (OLD, None, ["stale"]),
    ],
    ids=["another member", "no member", "just gone", "present", "members not known"],
)
def test_a_file_is_left_behind_only_by_a_client_that_is_surely_gone(modified_at, members, found):
    assert names(mark_abandoned(a_client_file(modified_at), with_members(members), NOW)) == found


def test_every_row_of_a_file_left_behind_says_so():
    marked = mark_abandoned(a_client_file(OLD), with_members(frozenset()), NOW)
    assert said(marked) == ["Left by a client that is gone; last written at 2026-03-01 01:49:59 UTC."]


def test_a_file_of_a_group_that_was_never_asked_for_members_is_only_stale():
    assert names(mark_abandoned(a_client_file(OLD), KNOWN, NOW)) == ["stale"]


def test_a_file_of_a_clustering_group_is_read_by_nobody():
    marked = mark_abandoned(a_client_file(NOW), with_members(frozenset({"10.0.0.1@c"}), "CLUSTERING"), NOW)
    assert names(marked) == ["not_broadcasting"]


@pytest.mark.parametrize(("modified_at", "found"), [(OLD, ["stale"]), (RECENT, [])])
def test_a_brokers_file_that_is_not_written_any_more_says_so(modified_at, found):
    marked = mark_abandoned(a_file(ORDERS, modified_at=modified_at), KNOWN, NOW)
    assert (names(marked), said(marked)) == (found, [None])


def test_a_file_that_was_not_read_stays_as_it_is():
    failed = a_failed_file()
    assert mark_abandoned(mark_unknown_names(failed, KNOWN), KNOWN, NOW) is failed
