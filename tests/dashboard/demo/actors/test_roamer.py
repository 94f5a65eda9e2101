"""The member that comes and goes."""

from dashboard.demo.actors.actor import Roamer, Step, step_at


class RecordedActor:
    """Writes down what it is told; `said` is shared by all actors of a test."""

    def __init__(self, said: list[str]) -> None:
        self.said = said
        self.said.append("started")

    def tell(self, word: str) -> None:
        self.said.append(word)

    def kill(self) -> None:
        self.said.append("killed")


def test_it_joins_leaves_joins_and_is_killed_in_turn() -> None:
    assert [step_at(number) for number in range(6)] == [
        Step.JOIN,
        Step.LEAVE,
        Step.JOIN,
        Step.KILL,
        Step.JOIN,
        Step.LEAVE,
    ]


def test_its_process_starts_at_its_first_step_and_again_after_it_was_killed() -> None:
    said: list[str] = []
    roamer = Roamer(lambda: RecordedActor(said))
    assert said == []
    for _ in range(6):
        roamer.take_step()
    assert said == ["started", "join", "leave", "join", "killed", "started", "join", "leave"]


def test_its_process_ends_with_the_story() -> None:
    said: list[str] = []
    roamer = Roamer(lambda: RecordedActor(said))
    roamer.kill()
    roamer.take_step()
    roamer.kill()
    assert said == ["started", "join", "killed"]
