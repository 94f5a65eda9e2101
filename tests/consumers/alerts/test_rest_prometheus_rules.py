"""Rules for Prometheus over REST, and their names in /metrics."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from django.test import Client

from consumers.models import AlertRule
from tests.alert_rows import a_rule, the_default_rules
from tests.prometheus import installed
from tests.world import a_cluster

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
PATH = "/api/v1/prometheus-rules/"


def test_it_is_a_file_of_yaml_whatever_a_client_accepts(api: Client) -> None:
    answer = api.get(PATH, headers={"accept": "text/html"})
    assert answer.headers["content-type"] == "application/yaml; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="consumerscope.rules.yaml"'
    assert [one["name"] for one in yaml.safe_load(answer.text)["groups"]] == ["consumerscope"]


def test_it_has_each_enabled_rule_and_each_cluster(api: Client) -> None:
    AlertRule.objects.all().delete()
    a_rule("Far behind")
    a_rule("Off", enabled=False)
    a_cluster("prod")
    text = api.get(PATH).text
    names = [one["alert"] for one in yaml.safe_load(text)["groups"][0]["rules"]]
    assert names[:2] == ["Far behind", "Far behind: unknown"]
    assert "# Off: not exported, disabled" in text
    assert 'absent(consumerscope_reading_age_seconds{cluster="prod"})' in text


def test_it_is_in_the_language_asked_for(api: Client) -> None:
    a_rule("Off", enabled=False)
    assert "# Off: 未导出，已停用" in api.get(PATH, headers={"accept-language": "zh-hans"}).text


def test_it_wants_a_reader(client: Client) -> None:
    assert client.get(PATH).status_code == 401


def test_it_refuses_a_parameter_that_it_does_not_have(api: Client) -> None:
    assert api.get(PATH, {"rule": "1"}).status_code == 400


def test_promtool_finds_all_built_in_rules_in_order(api: Client, tmp_path: Path) -> None:
    the_default_rules()
    AlertRule.objects.update(enabled=True)
    (tmp_path / "rules.yaml").write_text(api.get(PATH).text)
    command = [installed("promtool"), "check", "rules", "--lint-fatal", str(tmp_path / "rules.yaml")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_names_are_in_the_documentation_of_metrics(api: Client) -> None:
    the_default_rules()
    AlertRule.objects.update(enabled=True)
    names = set(re.findall(r"consumerscope_\w*[a-z]\b", api.get(PATH).text))
    documented = (Path(__file__).parents[3] / "docs/metrics.md").read_text()
    assert sorted(name for name in names if f"`{name}`" not in documented) == []
