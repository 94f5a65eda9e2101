import pytest

from dashboard.setup.pip_lines import Progress, reason_of


def test_it_tells_every_tenth_package() -> None:
    progress = Progress(packages=25)
    told = [progress.read(f"Collecting package{number}==1.0 (from -r lock)\n") for number in range(25)]
    assert [line for line in told if line] == [
        "  package 10 of at most 25, package9",
        "  package 20 of at most 25, package19",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("  Downloading pyspark-4.3.0.tar.gz (455.9 MB)", "  fetching pyspark-4.3.0.tar.gz (455.9 MB)"),
        ("  Using cached huge.whl (1.2 GB)", "  fetching huge.whl (1.2 GB)"),
        ("  Downloading small.whl (2.3 MB)", None),
        ("Building wheels for collected packages: pyspark", "  building pyspark"),
        ("Installing collected packages: a, b", "  putting the packages in place (up to a minute)"),
        ("  Preparing metadata (pyproject.toml): started", None),
    ],
)
def test_it_tells_only_what_takes_long(line: str, told: str | None) -> None:
    assert Progress(packages=3).read(line) == told


def test_it_knows_what_pip_does_while_pip_is_silent() -> None:
    progress = Progress(packages=3)
    seen = [progress.doing]
    for line in ("Collecting amqp==5.4.2 (from -r lock)", "  Downloading amqp.whl (2.3 MB)"):
        progress.read(line)
        seen.append(progress.doing)
    assert seen == ["starting pip", "package 1 of at most 3, amqp", "fetching amqp.whl (2.3 MB)"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            ["WARNING: Retrying … NewConnectionError('…: Network is unreachable')", "ERROR: No matching distribution"],
            "connect this machine to the network once",
        ),
        (
            ["ERROR: Could not find a version that satisfies the requirement amqp==5.4.2 (from versions: none)"],
            "connect this machine to the network once",
        ),
        (["Collecting amqp", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"], "THESE PACKAGES DO NOT MATCH"),
        (["Killed"], "Killed"),
        ([], "it said nothing"),
    ],
)
def test_it_says_in_one_sentence_why_pip_failed(lines: list[str], reason: str) -> None:
    said = reason_of(lines)
    assert reason in said
    assert "\n" not in said
