"""Django rows: entities, newest snapshots, judged states, group windows, events. Each file says who writes it."""

from .client import Assignment, Client
from .cluster import Broker, Cluster
from .group import ConsumerGroup, GroupKind, GroupTotal
from .lease import Lease
from .reading import PipelineRun, Reading
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
    "Cluster",
    "ConsumerGroup",
    "GroupKind",
    "GroupState",
    "GroupTotal",
    "GroupWindow",
    "Lease",
    "PipelineRun",
    "Queue",
    "QueueSnapshot",
    "QueueState",
    "Reading",
    "State",
    "StateChange",
    "TimeLagKind",
    "Topic",
    "TopicKind",
]
