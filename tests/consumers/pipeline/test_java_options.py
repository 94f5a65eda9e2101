"""What Java is told of a local session."""

import pytest

from consumers.pipeline.spark import java_options


@pytest.mark.parametrize("master", ["local", "local[1]", "local[*]"])
def test_the_heap_begins_small_whatever_memory_the_machine_has(master: str) -> None:
    (begins,) = [option for option in java_options(master).split() if option.startswith("-Xms")]
    assert begins == "-Xms96m"
