import pytest

from tests.plugins.skips import verdict


@pytest.mark.parametrize(
    ("outcome", "ci", "complains"),
    [("skipped", True, True), ("skipped", False, False), ("passed", True, False), ("failed", True, False)],
)
def test_only_a_skip_under_ci_is_complained_about(outcome: str, ci: bool, complains: bool) -> None:
    assert (verdict(outcome, "no Chromium here", ci=ci) is not None) is complains


TESTS = """
import pytest
def test_skips(): pytest.skip("no such thing here")
@pytest.mark.skip(reason="marked")
def test_is_marked(): pass
@pytest.mark.xfail(reason="known")
def test_fails_as_expected(): assert False
def test_passes(): pass
"""


@pytest.mark.parametrize(("ci", "outcomes"), [("true", {"failed": 1, "errors": 1}), ("", {"skipped": 2})])
def test_a_run_fails_on_skips_where_ci_is_set(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcomes: dict[str, int]
) -> None:
    monkeypatch.setenv("CI", ci)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-p", "tests.plugins.skips", "-p", "no:randomly", "-p", "no:django")
    result.assert_outcomes(passed=1, xfailed=1, **outcomes)


def test_a_file_that_is_skipped_as_a_whole_fails_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile("import pytest\npytest.skip('nothing here', allow_module_level=True)")
    result = pytester.runpytest_inprocess("-p", "tests.plugins.skips", "-p", "no:django")
    result.assert_outcomes(errors=1)
