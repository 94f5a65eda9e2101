import pytest

LIVE = "import pytest\npytestmark = pytest.mark.live\ndef test_it(): pass\n"
BROKEN = "raise RuntimeError('This file was read.')\n"
MARKS_BELOW = "import pytest\ndef pytest_collection_modifyitems(items):\n    [item.add_marker({}) for item in items]\n"
RUN = ["-p", "tests.plugins.marked", "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider", "-q"]


@pytest.fixture
def files(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nmarkers =\n    live: a broker\n    spark: a JVM\n")
    return pytester


def test_a_file_that_does_not_mention_the_mark_is_not_read(files: pytest.Pytester) -> None:
    files.makepyfile(test_a=LIVE, test_b=BROKEN)
    files.runpytest_inprocess(*RUN, "--marked", "live", "-m", "live").assert_outcomes(passed=1)


def test_of_two_marks_a_file_mentions_both(files: pytest.Pytester) -> None:
    both = LIVE.replace("pytest.mark.live", "[pytest.mark.live, pytest.mark.spark]")
    files.makepyfile(test_a=both, test_b=LIVE.replace("pass", "assert False"))
    files.runpytest_inprocess(*RUN, "--marked", "live", "--marked", "spark").assert_outcomes(passed=1)


def test_a_conftest_above_marks_what_is_below(files: pytest.Pytester) -> None:
    files.makeconftest(MARKS_BELOW.format("pytest.mark.live"))
    files.makepyfile(test_a="def test_it(): pass\n")
    files.runpytest_inprocess(*RUN, "--marked", "live", "-m", "live").assert_outcomes(passed=1)


def test_without_it_every_file_is_read(files: pytest.Pytester) -> None:
    files.makepyfile(test_a=LIVE, test_b="def test_it(): pass\n")
    files.runpytest_inprocess(*RUN).assert_outcomes(passed=2)


def test_a_test_whose_mark_its_file_does_not_mention_is_refused(files: pytest.Pytester) -> None:
    files.makeconftest(MARKS_BELOW.format("getattr(pytest.mark, 'live')"))
    files.makepyfile(test_a="def test_it(): pass\n")
    result = files.runpytest_inprocess(*RUN)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_a.py::test_it has the mark 'live', which test_a.py does not mention*"])
