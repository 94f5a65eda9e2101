"""A client's log as a busy consumer writes it: 40 queues that are committed every 5 s, and what else happens."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

QUEUES = 40
FIRST = datetime.fromisoformat("2026-11-23T00:00:00+08:00")
HEADER = "%s.%03d INFO  [4920] [%s] [%s#?:?] - "
COMMIT = "[persistAll] Group: billing ClientId: 10.0.0.7@one updateConsumeOffsetToBroker %s %d\n"
QUEUE = "MessageQueue [topic=Orders, brokerName=broker-a, queueId=%d]"
HEARTBEAT = "send heart beat to broker[broker-a 0 10.0.0.1:10911] success\n"
FAILED = "execute the pull request exception, group=billing, messageQueue=%s\n\tat org.apache.rocketmq.Client.run(x)\n"
MOVED = "doRebalance, billing, %s, %s\n"


def rounds() -> Iterator[bytes]:
    """What one commit interval leaves: 40 commits, 8 lines that say nothing, and 2 of a rebalance every minute."""
    number = 0
    while True:
        at = (FIRST + timedelta(seconds=5 * number)).strftime("%Y-%m-%d %H:%M:%S")
        committing = HEADER % (at, 120, "MQClientFactoryScheduledThread", "o.a.r.c.c.s.RemoteBrokerOffsetStore")
        lines = [committing + COMMIT % (QUEUE % queue, 1000 * number + queue) for queue in range(QUEUES)]
        other = HEADER % (at, 700, "PullMessageService", "o.a.r.c.i.f.MQClientInstance")
        lines += [other + HEARTBEAT] * 4 + [other + FAILED % (QUEUE % 1)] * 4
        if number % 12 == 0:
            balancing = HEADER % (at, 900, "RebalanceService", "o.a.r.c.i.c.RebalanceImpl")
            lines += [balancing + MOVED % (what, QUEUE % 3) for what in ("remove unnecessary mq", "add a new mq")]
        yield "".join(lines).encode()
        number += 1


def write_log(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for body in rounds():
            file.write(body)
            if file.tell() >= size:
                return
