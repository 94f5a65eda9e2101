"""Django rows: entities, newest snapshots, judged states, group windows, events. Each file says who writes it."""

from consumers.models.alerts.alert_rule import AlertRule, Comparison, GroupNote, Measure, Severity, Silence
from consumers.models.alerts.channel import (
    Channel,
    ChannelKind,
    Delivery,
    DeliveryAttempt,
    DeliveryEvent,
    DeliveryStatus,
)
from consumers.models.alerts.health import GroupHealth, HealthLevel
from consumers.models.alerts.incident import (
    AlertEngine,
    Ending,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
    SubjectKind,
)
from consumers.models.alerts.rule_preview import UNFINISHED_PREVIEWS, PreviewStatus, RulePreview
from consumers.models.evaluated.history_size import HistorySize
from consumers.models.evaluated.rebalance import Rebalance, RebalanceTopic
from consumers.models.evaluated.state import GroupState, QueueState, StateChange, TimeLagKind
from consumers.models.evaluated.thresholds import GroupThresholds
from consumers.models.evaluated.window import DueWindow, GroupWindow
from consumers.models.operations.dead_letter import DeadLetter, DeadLetterLook
from consumers.models.operations.loss import LossAcknowledgement
from consumers.models.operations.resend import Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.models.operations.reset import (
    Reset,
    ResetEvent,
    ResetKind,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.models.site.audit import AuditAction, AuditEvent
from consumers.models.site.clock import ClockChange, Doubt, MachineClock
from consumers.models.site.lease import Lease
from consumers.models.site.token import ApiToken
from consumers.models.watched.client import Assignment, Client, ClientSubscription
from consumers.models.watched.cluster import Broker, Cluster
from consumers.models.watched.delay import DelayLevel, Rung
from consumers.models.watched.group import ConsumerGroup, GroupKind, GroupTotal
from consumers.models.watched.group_broker import GroupBroker
from consumers.models.watched.head import HeadMessage
from consumers.models.watched.offset_file import OffsetFile, OffsetFileKind
from consumers.models.watched.reading import PipelineRun, Reading
from consumers.models.watched.sample import QueueSample, TagSample
from consumers.models.watched.snapshot import QueueSnapshot
from consumers.models.watched.topic import Queue, Topic, TopicKind
from consumers.vocabulary.states import State

__all__ = [
    "UNFINISHED_PREVIEWS",
    "AlertEngine",
    "AlertRule",
    "ApiToken",
    "Assignment",
    "AuditAction",
    "AuditEvent",
    "Broker",
    "Channel",
    "ChannelKind",
    "Client",
    "ClientSubscription",
    "ClockChange",
    "Cluster",
    "Comparison",
    "ConsumerGroup",
    "DeadLetter",
    "DeadLetterLook",
    "DelayLevel",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryEvent",
    "DeliveryStatus",
    "Destination",
    "Doubt",
    "DueWindow",
    "Ending",
    "GroupBroker",
    "GroupHealth",
    "GroupKind",
    "GroupNote",
    "GroupState",
    "GroupThresholds",
    "GroupTotal",
    "GroupWindow",
    "HeadMessage",
    "HealthLevel",
    "HistorySize",
    "Incident",
    "IncidentEvent",
    "IncidentEventKind",
    "IncidentStatus",
    "Lease",
    "LossAcknowledgement",
    "MachineClock",
    "Measure",
    "OffsetFile",
    "OffsetFileKind",
    "PipelineRun",
    "PreviewStatus",
    "Queue",
    "QueueSample",
    "QueueSnapshot",
    "QueueState",
    "Reading",
    "Rebalance",
    "RebalanceTopic",
    "Resend",
    "ResendItem",
    "ResendOutcome",
    "ResendStatus",
    "Reset",
    "ResetEvent",
    "ResetKind",
    "ResetMethod",
    "ResetOutcome",
    "ResetQueue",
    "ResetStatus",
    "ResetStep",
    "RulePreview",
    "Rung",
    "Severity",
    "Silence",
    "State",
    "StateChange",
    "SubjectKind",
    "TagSample",
    "TimeLagKind",
    "Topic",
    "TopicKind",
]
