"""The schema describes exactly what is answered."""

import dataclasses
from io import StringIO

import pytest
import yaml
from django.core.management import call_command

from consumers.api.alert_fields import (
    AttemptSerializer,
    DeliverySerializer,
    EvaluationSerializer,
    GroupNameSerializer,
    IncidentDetailSerializer,
    IncidentEventSerializer,
    IncidentSerializer,
    SubjectSerializer,
)
from consumers.api.alert_rule_fields import RuleSerializer
from consumers.api.assignments import AssignmentSerializer
from consumers.api.channel_fields import ChannelSerializer
from consumers.api.clusters import BrokerSerializer, ClusterDocument, ClusterSerializer, LastReadingSerializer
from consumers.api.group import (
    AnomalySerializer,
    GroupDetailSerializer,
    TopicSerializer,
    WorstQueueSerializer,
)
from consumers.api.group_notes import GroupNoteSerializer
from consumers.api.groups import GroupSerializer, OpenIncidentsSerializer
from consumers.api.history import PointSerializer, SeriesSerializer
from consumers.api.members import MemberSerializer, QueuePlaceSerializer, QueueShareSerializer
from consumers.api.offsets import ExposureSerializer, OffsetSerializer, StoreSerializer
from consumers.api.queues import QueueSerializer
from consumers.api.rebalances import RebalanceSerializer
from consumers.api.resend_fields import ResendMessageSerializer, ResendSerializer
from consumers.api.reset_fields import (
    OffsetReadingSerializer,
    ResetEventSerializer,
    ResetQueueSerializer,
    ResetSerializer,
    ResetTotalsSerializer,
    SeenBrokerSerializer,
    SeenGroupSerializer,
)
from consumers.api.retry_rows import HeadSerializer, RungSerializer, SampledSerializer
from consumers.api.retry_waiting import (
    DelayFindingSerializer,
    LastAttemptsSerializer,
    PolicySerializer,
    WheelSerializer,
)
from consumers.api.silences import SilenceSerializer
from consumers.api.status import StatusSerializer
from consumers.api.subscriptions import DifferenceSerializer, SubscriptionSerializer, WantedSerializer
from consumers.selectors.alerts.evaluated import Evaluated
from consumers.selectors.alerts.rows import (
    AttemptRow,
    DeliveryRow,
    GroupName,
    IncidentDetail,
    IncidentEventRow,
    IncidentRow,
    SubjectRow,
)
from consumers.selectors.alerts.setting_rows import ChannelRow, NoteRow, RuleRow, SilenceRow
from consumers.selectors.anomalies.rows import Anomaly
from consumers.selectors.cluster_rows import BrokerRow, ReadingRow
from consumers.selectors.dead_letters.resend_rows import ResendMessageRow, ResendRow
from consumers.selectors.groups.rows import GroupDetail, GroupRow, IncidentCounts, TopicRow, WorstQueue
from consumers.selectors.history.rows import Point, Series
from consumers.selectors.offset_stores.rows import OffsetRow, StoreRow
from consumers.selectors.ownership.rows import AssignmentRow, MemberRow, QueuePlace, QueueShare
from consumers.selectors.ownership.subscription_rows import Difference, SubscriptionRow, Wanted
from consumers.selectors.queue_rows import QueueRow
from consumers.selectors.rebalances.rows import RebalanceRow
from consumers.selectors.resets.rows import (
    OffsetReading,
    ResetEventRow,
    ResetQueueRow,
    ResetRow,
    SeenBroker,
    SeenGroup,
)
from consumers.selectors.resets.totals_rows import ResetTotals
from consumers.selectors.retries.blocked_rows import HeadFacts
from consumers.selectors.retries.ladder_rows import (
    DelayFinding,
    LadderRung,
    LastAttempts,
    RetryPolicyRow,
    SampledRung,
    WheelCount,
)
from consumers.selectors.status import GroupStatus
from consumers.stores.exposure import Exposure
from tests.openapi import operations, schema

OF_ALERTS = {
    f"/api/v1/{path}/"
    for path in (
        *("alerts", "alerts/{incident}", "alerts/{incident}/acknowledge", "alert-rules", "alert-rules/{rule}"),
        *("alert-previews", "alert-previews/{preview}", "alert-previews/{preview}/cancel"),
        *("silences", "silences/{silence}", "channels"),
        *("channels/{channel}", "channels/{channel}/deliveries", "channels/{channel}/test"),
        *("group-notes", "group-notes/{note}"),
    )
}


def test_it_is_valid_and_nothing_in_it_had_to_be_guessed():
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)
    assert yaml.safe_load(out.getvalue())["openapi"].startswith("3.1")


@pytest.mark.parametrize(
    ("serializer", "row", "kept_inside"),
    [
        (GroupSerializer, GroupRow, {"id"}),
        # Its queues are a resource of their own.
        (GroupDetailSerializer, GroupDetail, {"id", "queue_rows"}),
        (OpenIncidentsSerializer, IncidentCounts, set()),
        (MemberSerializer, MemberRow, set()),
        (QueuePlaceSerializer, QueuePlace, set()),
        (QueueShareSerializer, QueueShare, set()),
        (TopicSerializer, TopicRow, set()),
        (WorstQueueSerializer, WorstQueue, set()),
        (AnomalySerializer, Anomaly, set()),
        (QueueSerializer, QueueRow, set()),
        (AssignmentSerializer, AssignmentRow, set()),
        (ResendSerializer, ResendRow, set()),
        (ResendMessageSerializer, ResendMessageRow, set()),
        (ResetSerializer, ResetRow, set()),
        (ResetTotalsSerializer, ResetTotals, set()),
        (ResetQueueSerializer, ResetQueueRow, set()),
        (ResetEventSerializer, ResetEventRow, set()),
        (OffsetReadingSerializer, OffsetReading, set()),
        (SeenGroupSerializer, SeenGroup, set()),
        (SeenBrokerSerializer, SeenBroker, set()),
        (IncidentSerializer, IncidentRow, set()),
        (IncidentDetailSerializer, IncidentDetail, set()),
        (IncidentEventSerializer, IncidentEventRow, set()),
        (SubjectSerializer, SubjectRow, set()),
        (GroupNameSerializer, GroupName, set()),
        (DeliverySerializer, DeliveryRow, set()),
        (AttemptSerializer, AttemptRow, set()),
        (EvaluationSerializer, Evaluated, set()),
        (RuleSerializer, RuleRow, set()),
        (ChannelSerializer, ChannelRow, set()),
        (SilenceSerializer, SilenceRow, set()),
        (GroupNoteSerializer, NoteRow, set()),
        (SubscriptionSerializer, SubscriptionRow, set()),
        (DifferenceSerializer, Difference, set()),
        (WantedSerializer, Wanted, set()),
        (OffsetSerializer, OffsetRow, set()),
        (StoreSerializer, StoreRow, set()),
        (ExposureSerializer, Exposure, {"unknown"}),
        (StatusSerializer, GroupStatus, set()),
        (RebalanceSerializer, RebalanceRow, set()),
        (PointSerializer, Point, set()),
        (SeriesSerializer, Series, set()),
        (RungSerializer, LadderRung, set()),
        (SampledSerializer, SampledRung, set()),
        (HeadSerializer, HeadFacts, set()),
        (LastAttemptsSerializer, LastAttempts, set()),
        (WheelSerializer, WheelCount, set()),
        (PolicySerializer, RetryPolicyRow, set()),
        (DelayFindingSerializer, DelayFinding, set()),
        (BrokerSerializer, BrokerRow, set()),
        (ClusterSerializer, ClusterDocument, {"readings"}),
        (LastReadingSerializer, ReadingRow, {"brokers", "members", "record_seconds"}),
    ],
)
def test_it_says_every_field_of_a_row(serializer, row, kept_inside):
    names = set(row._fields) if issubclass(row, tuple) else {field.name for field in dataclasses.fields(row)}
    assert set(serializer().fields) == names - kept_inside


@pytest.mark.django_db
def test_it_names_every_path(api):
    paths = yaml.safe_load(api.get("/api/schema/").content)["paths"]
    under = "/api/v1/groups/{cluster}/{group}/"
    expected = {"/api/v1/clusters/", "/api/v1/groups/", "/api/v1/rebalances/", under}
    names = ("queues", "members", "assignments", "subscriptions", "offsets", "history", "status", "rebalances")
    names += ("retries", "dlq", "lost-offsets/acknowledge")
    of_resends = {f"/api/v1/resends/{{resend}}/{act}" for act in ("", "messages/", "start/", "cancel/")}
    acts = [f"{{reset}}/{act}/" for act in ("queues", "export", "apply", "resume", "restore", "cancel")]
    of_resets = {f"/api/v1/resets/{act}" for act in ("", "export/", "{reset}/", *acts)}
    of_groups = {
        f"{under}{name}/" for name in (*names, "dlq/export", "offsets/export", "resends", "lost-offsets/acknowledge")
    }
    assert set(paths) == expected | of_groups | of_resends | of_resets | OF_ALERTS


@pytest.mark.parametrize("name", ["groups", "alert", "group_status"])
def test_it_says_that_an_answer_which_the_caller_has_is_not_sent_again(name):
    [operation] = [one for one in operations() if one.name == name]
    assert set(operation.said["responses"]["304"]) == {"description"}


@pytest.mark.parametrize(
    ("name", "is_chosen_from"),
    [("Group", True), ("GroupDetail", True), ("Subscription", True), ("Difference", False), ("GroupsPage", False)],
)
def test_fields_leaves_members_out_of_rows_and_not_of_what_stands_beside_them(name, is_chosen_from):
    assert ("required" not in schema()["components"]["schemas"][name]) is is_chosen_from


@pytest.mark.django_db
def test_its_page_loads_nothing_from_elsewhere_and_runs_no_inline_script(api):
    answer = api.get("/api/docs/")
    policy = answer["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src 'self';" in f"{policy};"
    assert b"http" not in answer.content.replace(b"http://testserver", b"")
    assert b"<script>" not in answer.content
