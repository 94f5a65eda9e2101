"""Lists as CSV, by `Accept: text/csv` or `?format=csv`."""

import csv
import io

import pytest

from tests.dead_letter_rows import a_letter, a_look
from tests.rebalance_rows import a_rebalance
from tests.world import a_broker, a_cluster, a_dead_broker, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
GROUPS, BILLING = "/api/v1/groups/", "/api/v1/groups/prod/billing/"


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def lines(answer):
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (200, "text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def some_groups(cluster, number):
    for one in range(number):
        a_total(a_group(cluster, f"group-{one}"), one)


def test_it_is_chosen_by_the_header(cluster, api):
    some_groups(cluster, 1)
    answer = api.get(GROUPS, headers={"accept": "text/csv"})
    assert [row["group"] for row in lines(answer)] == ["group-0"]
    assert answer["Content-Disposition"] == 'attachment; filename="groups.csv"'


def test_it_is_the_whole_list_however_many_pages_that_were(cluster, api):
    some_groups(cluster, 120)
    assert len(lines(api.get(GROUPS, {"format": "csv"}))) == 120


def test_rows_that_are_read_in_parts_are_all_there(cluster, api):
    group = a_group(cluster)
    for number in range(1005):
        a_rebalance(group, ago(number * 60))
    rows = lines(api.get("/api/v1/rebalances/", {"format": "csv"}))
    assert len({row["event"] for row in rows}) == 1005


def test_its_columns_are_the_fields_of_a_row(cluster, api):
    some_groups(cluster, 1)
    [row] = api.get(GROUPS).json()["results"]
    [line] = lines(api.get(GROUPS, {"format": "csv"}))
    assert list(line) == list(row)


def test_chosen_columns_stand_as_they_were_asked_for_and_reasons_beside_them(cluster, api):
    some_groups(cluster, 1)
    [line] = lines(api.get(GROUPS, {"format": "csv", "fields": "state,group"}))
    assert list(line) == ["state", "group", "unknown_reason", "unknown"]


def test_what_is_not_known_is_an_empty_cell_with_its_reason(cluster, api):
    a_dead_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster, "Orders", broker="broker-b"), 60, 100)
    a_total(group, 40)
    a_judged_group(group, "OK")
    [line] = lines(api.get(GROUPS, {"format": "csv", "fields": "group,lag_messages"}))
    assert line["lag_messages"] == ""
    assert "broker-b" in line["unknown_reason"]


def test_a_name_that_a_spreadsheet_would_run_is_text(cluster, api):
    a_total(a_group(cluster, "=HYPERLINK(1)"), 1)
    assert [row["group"] for row in lines(api.get(GROUPS, {"format": "csv"}))] == ["'=HYPERLINK(1)"]


def test_a_list_that_is_too_long_is_refused_and_not_cut(cluster, api, settings):
    settings.API_CSV_ROWS = 2
    some_groups(cluster, 3)
    answer = api.get(GROUPS, {"format": "csv"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"]["format"][0].startswith("The list has 3 rows, and CSV allows 2 at most")


def test_a_list_that_may_not_be_whole_says_so_in_its_last_line(cluster, api):
    group = a_group(cluster)
    a_look(group, 0, 3, error="broker-a did not answer")
    a_letter(group, 1)
    text = b"".join(api.get(f"{BILLING}dlq/", {"format": "csv"}).streaming_content).decode()
    assert text.splitlines()[-1].startswith("# incomplete: ")


def test_members_that_need_not_be_all_are_said_to_be_so(cluster, api):
    a_group(cluster, membership_at=None)
    text = b"".join(api.get(f"{BILLING}members/", {"format": "csv"}).streaming_content).decode()
    assert text.splitlines()[-1].startswith("# incomplete: ")


@pytest.mark.parametrize("name", ["page", "page_size"])
def test_it_has_no_pages(cluster, api, name):
    answer = api.get(GROUPS, {"format": "csv", name: "1"})
    assert answer.json()["errors"][name] == ["CSV contains the whole list. Leave this out."]


def test_what_is_no_list_has_none(cluster, api):
    a_group(cluster)
    assert api.get(BILLING, headers={"accept": "text/csv"}).status_code == 406
    assert api.get(BILLING, {"format": "csv"}).json()["errors"]["format"] == ['"csv" is not allowed. Allowed: json.']


def test_a_problem_of_it_is_json(cluster, api):
    answer = api.get(GROUPS, {"cluster": "nowhere"}, headers={"accept": "text/csv"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no cluster 'nowhere'.")


def test_other_questions_than_for_the_list_are_answered_as_ever(cluster, api):
    assert (
        api.options(GROUPS, headers={"accept": "text/csv, application/json;q=0.5"})["Content-Type"]
        == "application/json"
    )
