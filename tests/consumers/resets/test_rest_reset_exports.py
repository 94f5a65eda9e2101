"""Resets and offsets as CSV over REST."""

import csv
import io
from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, ResetStatus
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.usefixtures("stopped_clock")


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


def rows_of(answer: Any) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))


def test_a_reset_gives_a_line_for_each_queue(api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing)
    a_reset_queue(reset, 0)
    a_queue_left_out(reset, 1)
    answer = api.get(f"/api/v1/resets/{reset.pk}/export/")
    assert f'filename="reset-prod-billing-{reset.pk}.csv"' in answer["Content-Disposition"]
    first, second = rows_of(answer)
    assert (first["broker"], first["now"], first["target"], first["replayed_messages"]) == (
        "broker-a",
        "60",
        "40",
        "20",
    )
    assert (second["broker"], second["target"], second["left_out"]) == ("broker-b", "", "broker-b does not answer")


def test_the_audit_has_all_resets_with_their_acts(api: Client, billing: ConsumerGroup) -> None:
    old = a_reset(billing, created_at=ago(500), status=ResetStatus.APPLIED)
    new = a_reset(billing)
    an_event(old, "Applied the plan.")
    rows = rows_of(api.get("/api/v1/resets/export/"))
    assert [row["id"] for row in rows] == [str(new.pk), str(old.pk)]
    assert "Applied the plan." in rows[1]["events"]
    assert rows[0]["reason"] == "orders were lost"


@pytest.mark.parametrize(("query", "count"), [("status=applied", 1), ("by=ops", 2), ("cluster=other", 0)])
def test_the_audit_is_chosen_by_the_filters_of_the_list(
    api: Client, billing: ConsumerGroup, query: str, count: int
) -> None:
    a_reset(billing, status=ResetStatus.APPLIED)
    a_reset(billing)
    assert len(rows_of(api.get(f"/api/v1/resets/export/?{query}"))) == count


def test_offsets_are_those_of_the_newest_reading(api: Client, billing: ConsumerGroup) -> None:
    a_snapshot(billing, a_queue(billing.cluster), 60, 100, min_offset=10)
    answer = api.get("/api/v1/groups/prod/billing/offsets/export/")
    assert 'filename="offsets-prod-billing.csv"' in answer["Content-Disposition"]
    (row,) = rows_of(answer)
    assert (row["topic"], row["broker"], row["queue_id"], row["offset"]) == ("Orders", "broker-a", "0", "60")


def test_a_client_that_asks_for_csv_gets_it(api: Client, billing: ConsumerGroup) -> None:
    answer = api.get("/api/v1/resets/export/", headers={"accept": "text/csv"})
    assert rows_of(answer) == []


def test_what_is_wrong_is_said_as_a_problem(api: Client, billing: ConsumerGroup) -> None:
    for path, status in (
        ("/api/v1/resets/export/?page=2", 400),
        ("/api/v1/resets/export/?status=done", 400),
        ("/api/v1/groups/prod/none/offsets/export/", 404),
        ("/api/v1/groups/prod/billing/offsets/export/?format=json", 400),
    ):
        answer = api.get(path, headers={"accept": "text/csv"})
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
