"""Push consumers in a process that a test may kill, and every delivery that they were given."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.plugins.calling import CalledChild


class Delivery(NamedTuple):
    """`member`: the process and the instance. `unique_key`: of the message, the same in each of its copies."""

    member: str
    group: str
    unique_key: str
    reconsume_times: int


class NotingMembers:
    """`with` kills what is left of them. Another one in the same folder goes on with its notes and its offset files."""

    def __init__(self, namesrv: str, jars: Path, folder: Path, process: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "rocketmq_client.log"
        self._notes = folder / "deliveries"
        self._child = CalledChild("noting_child.py", [namesrv, jars, folder, process, self._notes], folder)

    def __enter__(self) -> "NotingMembers":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, seconds: tuple[float, float], behaviour: dict[str, int], **membership: Any) -> None:
        """`seconds`: how long a message takes, least and most. `behaviour`: see noting_child."""
        self._child.call("start", membership=membership, seconds=list(seconds), behaviour=behaviour)

    def stop(self, instance: str) -> None:
        """In order: what it holds is consumed as far as it waits for that, and committed."""
        self._child.call("stop", instance=instance)

    def kill(self) -> None:
        """SIGKILL: nothing is committed, nobody says goodbye."""
        self._child.kill()

    def deliveries(self) -> list[Delivery]:
        if not self._notes.exists():
            return []
        lines = (line.split() for line in self._notes.read_text().splitlines())
        return [Delivery(member, group, key, int(times)) for member, group, key, times in lines]
