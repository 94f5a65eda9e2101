"""Django rows: entities, newest snapshots, judged states, group windows, events. Each file says who writes it."""

from .client import Assignment, Client, ClientSubscription
from .cluster import Broker, Cluster
from .group import ConsumerGroup, GroupKind, GroupTotal
from .lease import Lease
from .offset_file import OffsetFile, OffsetFileKind
from .reading import PipelineRun, Reading
from .rebalance import Rebalance, RebalanceTopic
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
    "GroupKind",
    "GroupState",
    "GroupTotal",
    "GroupWindow",
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
    "State",
    "StateChange",
    "TagSample",
    "TimeLagKind",
    "Topic",
    "TopicKind",
]
