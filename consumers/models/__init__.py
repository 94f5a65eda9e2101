"""Django rows: entities, newest snapshots, judged states, group windows, events. Each file says who writes it."""

from .client import Assignment, Client, ClientSubscription
from .cluster import Broker, Cluster
from .dead_letter import DeadLetter, DeadLetterLook
from .delay import DelayLevel, Rung
from .group import ConsumerGroup, GroupKind, GroupTotal
from .group_broker import GroupBroker
from .head import HeadMessage
from .lease import Lease
from .offset_file import OffsetFile, OffsetFileKind
from .reading import PipelineRun, Reading
from .rebalance import Rebalance, RebalanceTopic
from .resend import Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from .reset import Reset, ResetEvent, ResetKind, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from .sample import QueueSample, TagSample
from .snapshot import QueueSnapshot
from .state import GroupState, QueueState, State, StateChange, TimeLagKind
from .token import ApiToken
from .topic import Queue, Topic, TopicKind
from .window import GroupWindow

__all__ = [
    "ApiToken",
    "Assignment",
    "Broker",
    "Client",
    "ClientSubscription",
    "Cluster",
    "ConsumerGroup",
    "DeadLetter",
    "DeadLetterLook",
    "DelayLevel",
    "Destination",
    "GroupBroker",
    "GroupKind",
    "GroupState",
    "GroupTotal",
    "GroupWindow",
    "HeadMessage",
    "Lease",
    "OffsetFile",
    "OffsetFileKind",
    "PipelineRun",
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
    "Rung",
    "State",
    "StateChange",
    "TagSample",
    "TimeLagKind",
    "Topic",
    "TopicKind",
]
