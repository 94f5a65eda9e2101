"""Rules for Prometheus: promtool evaluates them over the same numbers as the site's own evaluation."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.alerts.evaluation.machine import Course, CourseTimes, Observation, step
from consumers.alerts.prometheus import rules_file, why_not_exported
from consumers.alerts.rule_terms import RuleTerms
from consumers.models import AlertRule, Comparison, IncidentStatus, Measure
from tests.prometheus import installed
from tests.world import NOW

MINUTE = timedelta(minutes=1)
BILLING = {"cluster": "prod", "group": "billing"}
Values = Sequence[float | None]


def a_rule_for(measure: str = "lag_messages", **fields: Any) -> AlertRule:
    said: dict[str, Any] = {"name": "Far behind", "comparison": "above", "threshold": 100, "clear_seconds": 0}
    return AlertRule(measure=measure, **(said | {"severity": "warning"} | fields))


def exported(*rules: AlertRule, clusters: Sequence[str] = ()) -> list[dict[str, Any]]:
    return [dict(one) for one in yaml.safe_load(rules_file(rules, clusters))["groups"][0]["rules"]]


def series(name: str, values: Iterable[float | None], **labels: str) -> dict[str, str]:
    """A value that is not there ends the series, as a scrape without it does."""
    words = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return {"series": f"{name}{{{words}}}", "values": " ".join("stale" if one is None else str(one) for one in values)}


def unknown(values: Iterable[bool], reason: str = "broker_unreachable", **labels: str) -> dict[str, str]:
    return series("consumerscope_unknown", (1 if one else None for one in values), reason=reason, **labels)


def promtool(folder: Path, rules: Sequence[AlertRule], samples: Sequence[dict[str, str]],
             expected: Sequence[tuple[int, str, list[dict[str, str]]]]) -> str:  # fmt: skip
    """`expected`: at which minute which alert fires, with which labels. What promtool says where it is otherwise."""
    (folder / "rules.yaml").write_text(rules_file(rules, ()))
    made = {(one["alert"], one["labels"].get("override")): one for one in exported(*rules)}
    tests = []
    for minute, name, found in expected:
        alerts = []
        for labels in found:
            alert = made[name, labels.get("override")]
            summary = alert["annotations"]["summary"]
            for label, value in labels.items():
                summary = summary.replace(f"{{{{ $labels.{label} }}}}", value)
            summary = summary.replace("{{ $value }}", "1")
            alerts.append(
                {"exp_labels": alert["labels"] | labels, "exp_annotations": alert["annotations"] | {"summary": summary}}
            )
        tests.append({"eval_time": f"{minute}m", "alertname": name, "exp_alerts": alerts})
    case = {"interval": "1m", "input_series": list(samples), "alert_rule_test": tests}
    return said_by_promtool(folder, case)


def said_by_promtool(folder: Path, case: dict[str, Any]) -> str:
    """Nothing where all is as expected of the rules in `folder`."""
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [case]}
    (folder / "test.yaml").write_text(json.dumps(document))
    command = [installed("promtool"), "test", "rules", str(folder / "test.yaml")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def as_evaluated(rule: AlertRule, values: Values) -> list[bool]:
    """Whether the site's own evaluation has a firing incident, minute by minute."""
    terms, course, fires = RuleTerms.of(rule).own, None, list[bool]()
    waits = CourseTimes(terms.for_seconds, terms.clear_seconds)
    for minute, value in enumerate(values):
        if value is None:
            seen = Observation.UNKNOWN
        elif terms.holds(value):
            seen = Observation.HOLDS
        else:
            seen = Observation.OVER if terms.cleared(value) else Observation.BETWEEN
        course = step(course, seen, waits, NOW + minute * MINUTE).course
        fires.append(isinstance(course, Course) and course.status == IncidentStatus.FIRING)
    return fires


def same_course(folder: Path, rule: AlertRule, values: Values) -> str:
    fires = as_evaluated(rule, values)
    expected = [(minute, rule.name, [BILLING] if is_firing else []) for minute, is_firing in enumerate(fires)]
    lag = series("consumerscope_group_lag_messages", values, **BILLING)
    return promtool(folder, [rule], [lag, unknown((one is None for one in values), **BILLING)], expected)


COURSES = [
    ("it fires after its time", {"for_seconds": 120}, [0, 200, 200, 200, 200, 0, 0]),
    ("one good value begins the time anew", {"for_seconds": 120}, [200, 200, 0, 200, 200, 200, 0]),
    ("between the thresholds it goes on", {"clear_threshold": 50}, [60, 200, 60, 100, 51, 50, 60]),
    ("it resolves after its time", {"clear_seconds": 180}, [200, 0, 0, 0, 0, 0]),
    ("an unknown value resolves nothing", {}, [200, None, None, None, 0]),
    ("an unknown value fires nothing", {}, [0, None, None, 200]),
    ("below a threshold", {"comparison": "below"}, [200, 50, 100, 99, 200]),
]


@pytest.mark.parametrize(("what", "fields", "values"), COURSES, ids=[what for what, _, _ in COURSES])
def test_prometheus_fires_as_the_site_does(what: str, fields: dict[str, Any], values: Values, tmp_path: Path) -> None:
    assert same_course(tmp_path, a_rule_for(**fields), values) == ""


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    values=st.lists(st.sampled_from([0, 60, 200]), min_size=8, max_size=25),
    minutes=st.integers(0, 3),
    clear=st.sampled_from([None, 50]),
)
def test_it_fires_as_the_site_does_over_any_known_numbers(
    values: list[float], minutes: int, clear: float | None, tmp_path: Path
) -> None:
    rule = a_rule_for(for_seconds=minutes * 60, clear_threshold=clear)
    assert same_course(tmp_path, rule, values) == ""


def lag_of(group: str, values: Values, cluster: str = "prod") -> dict[str, str]:
    return series("consumerscope_group_lag_messages", values, cluster=cluster, group=group)


NOBODY_KNOWS = "Far behind: unknown"


def test_a_group_whose_value_is_unknown_fires_an_alert_of_its_own(tmp_path: Path) -> None:
    lost = unknown([True] * 9, **BILLING)
    expected = [(4, NOBODY_KNOWS, []), (5, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [a_rule_for()], [lost], expected) == ""


def test_a_group_that_has_no_lag_by_its_nature_is_not_reported_as_unknown(tmp_path: Path) -> None:
    lost = unknown([True] * 9, "never_committed", **BILLING)
    assert promtool(tmp_path, [a_rule_for()], [lost], [(8, NOBODY_KNOWS, [])]) == ""


def test_a_group_that_is_known_is_not_reported_as_unknown_for_another_cause(tmp_path: Path) -> None:
    samples = [lag_of("billing", [5] * 9), unknown([True] * 9, "retry_share_unknown", **BILLING)]
    assert promtool(tmp_path, [a_rule_for()], samples, [(8, NOBODY_KNOWS, [])]) == ""


def test_metrics_that_are_gone_are_reported(tmp_path: Path) -> None:
    name = "Consumerscope: no metrics"
    assert promtool(tmp_path, [a_rule_for()], [], [(4, name, []), (5, name, [{}])]) == ""
    there = series("consumerscope_reading_age_seconds", [5] * 9, cluster="prod")
    assert promtool(tmp_path, [a_rule_for()], [there], [(8, name, [])]) == ""


def test_metrics_that_are_gone_of_one_cluster_are_reported(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(rules_file([], ["prod", "test"]))
    (alert,) = [one for one in exported(clusters=("prod", "test")) if one["alert"] == "Consumerscope: no metrics"]
    there = series("consumerscope_reading_age_seconds", [5], cluster="prod")
    answer = {"expr": alert["expr"], "eval_time": "0m", "exp_samples": [{"labels": '{cluster="test"}', "value": 1}]}
    case = {"interval": "1m", "input_series": [there], "promql_expr_test": [answer]}
    assert said_by_promtool(tmp_path, case) == ""


def test_a_cluster_that_was_never_read_is_reported(tmp_path: Path) -> None:
    name, samples = "Consumerscope: nothing read", [unknown([True] * 9, "not_read", cluster="new")]
    assert promtool(tmp_path, [a_rule_for()], samples, [(5, name, [{"cluster": "new", "reason": "not_read"}])]) == ""


def test_the_summary_has_the_numbers_of_the_override() -> None:
    rule = a_rule_for(overrides=[{"group_pattern": "audit*", "threshold": 10.0}])
    said = [one["annotations"]["summary"] for one in exported(rule)][:2]
    assert [words.split("{{ $labels.group }}: ")[1].split(" · ")[0] for words in said] == [
        "lag > 10 messages", "lag > 100 messages"
    ]  # fmt: skip


def test_a_rule_reports_unknown_only_within_its_scope(tmp_path: Path) -> None:
    rule = a_rule_for(group_pattern="audit*")
    assert promtool(tmp_path, [rule], [unknown([True] * 9, **BILLING)], [(8, NOBODY_KNOWS, [])]) == ""


def test_a_scope_is_compared_as_the_site_does(tmp_path: Path) -> None:
    rule = a_rule_for(group_pattern="bill.*-?", cluster="prod")
    samples = [lag_of(group, [200]) for group in ("bill.eu-1", "billXeu-1", "bill.eu-12")]
    samples += [lag_of("bill.us-1", [200], cluster="test")]
    expected = [{"cluster": "prod", "group": "bill.eu-1"}]
    assert promtool(tmp_path, [rule], samples, [(0, rule.name, expected)]) == ""


def test_the_first_override_that_names_a_group_counts_for_it(tmp_path: Path) -> None:
    overrides = [
        {"cluster": "prod", "group_pattern": "audit", "enabled": False},
        {"group_pattern": "audit*", "threshold": 10.0},
        {"cluster": "test", "severity": "info", "threshold": 500.0},
    ]
    rule = a_rule_for(overrides=overrides)
    samples = [lag_of(group, [50]) for group in ("audit", "audit-2", "billing")]
    samples += [lag_of("audit", [50], "test"), lag_of("billing", [200], "test"), lag_of("stock", [200])]
    fires = [
        {"cluster": "prod", "group": "audit-2", "override": "2"},
        {"cluster": "test", "group": "audit", "override": "2"},
        {"cluster": "prod", "group": "stock"},
    ]
    assert promtool(tmp_path, [rule], samples, [(0, rule.name, fires)]) == ""


def test_an_excluded_group_does_not_fire(tmp_path: Path) -> None:
    excluded = series("consumerscope_group_excluded", [1] * 9, reason="paused", **BILLING)
    samples = [lag_of("billing", [200]), excluded, unknown([True] * 9, cluster="prod", group="audit")]
    expected = [(0, "Far behind", []), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [a_rule_for()], samples, expected) == ""


@pytest.mark.parametrize("measure", ["unowned_queues", "doubly_owned_queues", "blocked_seconds"])
def test_what_a_group_does_not_have_is_not_reported_as_unknown(measure: str, tmp_path: Path) -> None:
    """POP consumers own no queues, whatever else of their group is unknown."""
    rule = a_rule_for(measure, threshold=0)
    excluded = series("consumerscope_group_excluded", [1] * 9, reason="popping", **BILLING)
    lost = [unknown([True] * 9, "retry_share_unknown", cluster="prod", group=group) for group in ("billing", "audit")]
    assert promtool(tmp_path, [rule], [excluded, lost[0]], [(8, NOBODY_KNOWS, [])]) == ""
    assert promtool(tmp_path, [rule], [excluded, *lost], [(8, NOBODY_KNOWS, [{"cluster": "prod"}])]) == ""


def test_a_rule_of_states_fires_for_each_of_them_and_reports_unknown(tmp_path: Path) -> None:
    rule = a_rule_for("state", comparison="in", threshold=None, states=["STOP", "STALL"])
    groups = {"stalled": "STALL", "stopped": "STOP", "fine": "OK", "lost": "UNKNOWN"}
    samples = [series("consumerscope_group_state", [1] * 9, cluster="prod", group=group, state=state)
               for group, state in groups.items()]  # fmt: skip
    fires = [{"cluster": "prod", "group": group} for group in ("stalled", "stopped")]
    expected = [(0, rule.name, fires), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_a_rule_of_unknown_time_waits_for_that_time(tmp_path: Path) -> None:
    rule = a_rule_for("unknown_seconds", threshold=120)
    samples = [series("consumerscope_group_state", [1] * 9, state="UNKNOWN", **BILLING),
               series("consumerscope_group_state", [1] * 9, state="UNKNOWN", cluster="prod", group="audit"),
               unknown([True] * 9, cluster="prod", group="audit")]  # fmt: skip
    expected = [(1, rule.name, []), (2, rule.name, [BILLING]), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_a_rule_of_findings_counts_those_that_it_seeks(tmp_path: Path) -> None:
    rule = a_rule_for("findings", threshold=0, findings=["critical", "-lost_offsets"])
    said = [("billing", "retries_discarded", "critical"), ("audit", "lost_offsets", "critical"),
            ("stock", "not_checked", "unknown"), ("email", "duplicate_client_ids", "warning")]  # fmt: skip
    samples = [series("consumerscope_finding", [1] * 9, cluster="prod", group=group, code=code, severity=severity)
               for group, code, severity in said]  # fmt: skip
    expected = [(0, rule.name, [BILLING]), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_a_broker_that_was_never_read_is_reported_as_unknown(tmp_path: Path) -> None:
    rule = a_rule_for("broker_unread_seconds", threshold=120)
    samples = [series("consumerscope_broker_reading_age_seconds", [200], cluster="prod", broker="broker-a"),
               unknown([True] * 9, "broker_never_read", cluster="prod")]  # fmt: skip
    expected = [(0, rule.name, [{"cluster": "prod", "broker": "broker-a"}]), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_a_name_or_note_is_never_taken_for_a_template(tmp_path: Path) -> None:
    rule = a_rule_for(name='"{{ x }}" \\ 堆积', note="see {{ this }}\nand that", group_pattern='bill"ing\\')
    assert promtool(tmp_path, [rule], [], [(0, rule.name, [])]) == ""


def expires(values: Values) -> dict[str, str]:
    return series("consumerscope_group_expires_unconsumed_seconds", values, **BILLING)


def test_a_bound_fires_below_its_threshold_and_is_unknown_above_it(tmp_path: Path) -> None:
    """A queue of which nothing is known may lose messages earlier, and never later, than the others."""
    rule = a_rule_for("expires_unconsumed_seconds", comparison="below", threshold=3600.0)
    samples = [expires([7200] * 9 + [1800] * 9), unknown([True] * 18, "expiry_forecast_partial", **BILLING)]
    found = [{"cluster": "prod"}]
    expected = [(8, rule.name, []), (8, NOBODY_KNOWS, found), (9, rule.name, [BILLING]), (17, NOBODY_KNOWS, [])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_what_fires_goes_on_while_its_value_is_a_bound(tmp_path: Path) -> None:
    rule = a_rule_for("expires_unconsumed_seconds", comparison="below", threshold=3600.0)
    samples = [expires([1800, 7200, 7200]), unknown([False, True, False], "expiry_forecast_partial", **BILLING)]
    assert promtool(tmp_path, [rule], samples, [(1, rule.name, [BILLING]), (2, rule.name, [])]) == ""


def bounded(measure: str, exact: Values, at_least: Values) -> list[dict[str, str]]:
    name = f"consumerscope_group_{measure}"
    missing = (one is None for one in exact)
    told = [series(name, exact, **BILLING), series(f"{name}_at_least", at_least, **BILLING)]
    return [*told, unknown(missing, "held_messages_unknown", **BILLING)]


@pytest.mark.parametrize("measure", ["blocked_seconds", "doubly_owned_queues"])
def test_a_lower_bound_fires_above_its_threshold_and_is_unknown_below_it(measure: str, tmp_path: Path) -> None:
    samples = bounded(measure, [None] * 18, [50] * 9 + [200] * 9)
    found = [{"cluster": "prod"}]
    expected = [(8, "Far behind", []), (8, NOBODY_KNOWS, found), (9, "Far behind", [BILLING]), (17, NOBODY_KNOWS, [])]
    assert promtool(tmp_path, [a_rule_for(measure)], samples, expected) == ""


def test_what_fires_goes_on_while_its_value_is_a_lower_bound(tmp_path: Path) -> None:
    samples = bounded("blocked_seconds", [200, None, 50], [200, 50, 50])
    expected = [(0, "Far behind", [BILLING]), (1, "Far behind", [BILLING]), (2, "Far behind", [])]
    assert promtool(tmp_path, [a_rule_for("blocked_seconds")], samples, expected) == ""


@pytest.mark.parametrize(("reason", "fires"), [("dispatch_behind", [BILLING]), ("consumer_ahead", [])])
def test_a_lag_fires_by_what_is_known_where_only_its_broker_hides_messages(
    reason: str, fires: list[dict[str, str]], tmp_path: Path
) -> None:
    known = series("consumerscope_group_lag_messages_at_least", [200] * 9, **BILLING)
    expected = [(0, "Far behind", fires), (8, NOBODY_KNOWS, [] if fires else [{"cluster": "prod"}])]
    assert promtool(tmp_path, [a_rule_for()], [known, unknown([True] * 9, reason, **BILLING)], expected) == ""


def test_a_time_lag_that_is_a_lower_bound_resolves_nothing(tmp_path: Path) -> None:
    name = "consumerscope_group_time_lag_seconds"
    samples = [series(name, [200, *[None] * 9], kind="exact", **BILLING),
               series(name, [None, *[50] * 9], kind="at_least", **BILLING)]  # fmt: skip
    expected = [(0, "Far behind", [BILLING]), (8, "Far behind", [BILLING]), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [a_rule_for("time_lag_seconds")], samples, expected) == ""


def test_findings_that_are_left_resolve_nothing_while_a_check_did_not_run(tmp_path: Path) -> None:
    rule = a_rule_for("findings", threshold=1, findings=["critical"])
    name = "consumerscope_finding"
    samples = [series(name, [2, *[1] * 9], code="retries_discarded", severity="critical", **BILLING),
               series(name, [None, *[1] * 9], code="retry_checks_unknown", severity="unknown", **BILLING)]  # fmt: skip
    expected = [(0, rule.name, [BILLING]), (8, rule.name, [BILLING]), (8, NOBODY_KNOWS, [{"cluster": "prod"}])]
    assert promtool(tmp_path, [rule], samples, expected) == ""


def test_findings_of_a_group_on_a_broker_that_is_not_read_are_unknown(tmp_path: Path) -> None:
    rule = a_rule_for("findings", threshold=0, findings=["critical"])
    found = [{"cluster": "prod"}]
    assert promtool(tmp_path, [rule], [unknown([True] * 9, **BILLING)], [(8, NOBODY_KNOWS, found)]) == ""


REFUSED = [
    ({"enabled": False}, "disabled"),
    ({"topic": "Orders"}, "/metrics has no values of a group's part of a topic"),
    ({"labels": {"team": "payments"}}, "/metrics does not have the labels that notes give groups"),
    ({"measure": "lost_queues", "threshold": 3}, "/metrics counts lost offsets by group, not by broker"),
    ({"measure": "findings", "findings": ["critical", "retries_discarded"]},
     "it selects findings by severity and by code: create a rule for each"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "why"), REFUSED)
def test_a_rule_that_cannot_be_exported_is_a_comment_that_says_why(fields: dict[str, Any], why: str) -> None:
    rule = a_rule_for(**({"measure": "lag_messages"} | fields))
    assert f"# Far behind: not exported, {why}" in rules_file([rule], ())
    assert rule.name not in [one["alert"] for one in exported(rule)]


@pytest.mark.parametrize("measure", list(Measure))
def test_every_measure_is_exported(measure: Measure, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"threshold": 0.0}
    if measure is Measure.STATE:
        fields = {"comparison": Comparison.IN, "states": ["STOP"], "threshold": None}
    if measure is Measure.FINDINGS:
        fields |= {"findings": ["critical"]}
    rule = a_rule_for(measure, **fields)
    assert why_not_exported(rule) is None
    (tmp_path / "rules.yaml").write_text(rules_file([rule], ()))
    command = [installed("promtool"), "check", "rules", "--lint-fatal", str(tmp_path / "rules.yaml")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
