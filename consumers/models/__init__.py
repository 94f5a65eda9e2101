"""Django rows: entities, newest snapshots, judged states, group windows, events. Each file says who writes it."""

from consumers.vocabulary.states import State

from .alert_rule import AlertRule, Comparison, GroupNote, Measure, Severity, Silence
from .audit import AuditAction, AuditEvent
from .channel import Channel, ChannelKind, Delivery, DeliveryAttempt, DeliveryEvent, DeliveryStatus
from .client import Assignment, Client, ClientSubscription
from .clock import ClockChange, Doubt, MachineClock
from .cluster import Broker, Cluster
from .dead_letter import DeadLetter, DeadLetterLook
from .delay import DelayLevel, Rung
from .group import ConsumerGroup, GroupKind, GroupTotal
from .group_broker import GroupBroker
from .head import HeadMessage
from .health import GroupHealth, HealthLevel
from .history_size import HistorySize
from .incident import AlertEngine, Ending, Incident, IncidentEvent, IncidentEventKind, IncidentStatus, SubjectKind
from .lease import Lease
from .loss import LossAcknowledgement
from .offset_file import OffsetFile, OffsetFileKind
from .reading import PipelineRun, Reading
from .rebalance import Rebalance, RebalanceTopic
from .resend import Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from .reset import Reset, ResetEvent, ResetKind, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from .rule_preview import UNFINISHED_PREVIEWS, PreviewStatus, RulePreview
from .sample import QueueSample, TagSample
from .snapshot import QueueSnapshot
from .state import GroupState, QueueState, StateChange, TimeLagKind
from .thresholds import GroupThresholds
from .token import ApiToken
from .topic import Queue, Topic, TopicKind
from .window import DueWindow, GroupWindow

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
