"""The threads of a client, out of the text of its running info: grouped by equal stack, and compared with later ones.

The text is that of RocketMQ 5.4.0, UtilAll.jstack: a block for each thread, with an empty line between two. Each line
begins with the thread's name, padded to 40 letters. The first line goes on with `TID: 7 STATE: WAITING`, the others
with a frame, innermost first.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# RocketMQ 4.9 and 5.4: ConsumeMessageConcurrentlyService and ConsumeMessageOrderlyService name their threads so.
CONSUMING = "ConsumeMessageThread_"
# A thread that runs a listener is within one of these; others of the pool wait for messages.
WORKING = "$ConsumeRequest.run"
LONGEST_TEXT = 400_000
_HEAD = re.compile(r"(?P<name>.*?)\s*TID: (?P<tid>\d+) STATE: (?P<state>\w+)")


@dataclass(frozen=True)
class ThreadStack:
    """`frames`: innermost first."""

    name: str
    tid: int
    state: str
    frames: tuple[str, ...]

    @property
    def is_consuming(self) -> bool:
        return self.name.startswith(CONSUMING)

    @property
    def is_working(self) -> bool:
        """Within a listener, as opposed to waiting for messages."""
        return self.is_consuming and any(WORKING in frame for frame in self.frames)


@dataclass(frozen=True)
class StackGroup:
    """Threads with the same stack in the same state."""

    state: str
    frames: tuple[str, ...]
    threads: tuple[ThreadStack, ...]

    @property
    def is_consuming(self) -> bool:
        return any(thread.is_consuming for thread in self.threads)

    @property
    def is_working(self) -> bool:
        return any(thread.is_working for thread in self.threads)


def threads_of(text: str) -> list[ThreadStack]:
    """In the order of the text. A block that is none of a thread is left out."""
    found = []
    for block in re.split(r"\r?\n\r?\n", text.strip()):
        head, *lines = block.splitlines() or [""]
        said = _HEAD.fullmatch(head.strip())
        if said is None:
            continue
        name = said["name"]
        frames = (line.removeprefix(name).strip() for line in lines)
        found.append(ThreadStack(name, int(said["tid"]), said["state"], tuple(frame for frame in frames if frame)))
    return found


def cut_text(text: str) -> tuple[str, bool]:
    """At most LONGEST_TEXT letters of whole blocks, and whether that is less than all."""
    if len(text) <= LONGEST_TEXT:
        return text, False
    end = max(text.rfind("\n\n", 0, LONGEST_TEXT), text.rfind("\n\r\n", 0, LONGEST_TEXT))
    return text[: end if end > 0 else LONGEST_TEXT], True


def grouped(threads: Iterable[ThreadStack]) -> list[StackGroup]:
    """Those within a listener first, then others that consume, then the rest; the most threads first."""
    same: dict[tuple[str, tuple[str, ...]], list[ThreadStack]] = {}
    for thread in threads:
        same.setdefault((thread.state, thread.frames), []).append(thread)
    groups = [StackGroup(state, frames, tuple(each)) for (state, frames), each in same.items()]
    return sorted(
        groups, key=lambda one: (not one.is_working, not one.is_consuming, -len(one.threads), one.threads[0].name)
    )


def unmoved(before: Sequence[ThreadStack], after: Sequence[ThreadStack]) -> frozenset[int]:
    """The ids of threads that are in the same place in both. The same id of another name is another thread."""
    places = {(thread.tid, thread.name): (thread.state, thread.frames) for thread in before}
    return frozenset(
        thread.tid for thread in after if places.get((thread.tid, thread.name)) == (thread.state, thread.frames)
    )
