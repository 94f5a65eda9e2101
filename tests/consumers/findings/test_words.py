"""Every finding has words, in both languages, for what its check stores."""

import re

import pytest
from django.utils.translation import override

from consumers.queries.findings import FORMATS, finding_row, finding_sentence
from consumers.vocabulary.findings import FindingCode
from consumers.words.findings import SPECS
from tests.world import NOW

PLACES = {"count": 2, "places": [["Orders", "broker-a", [0, 1]]]}
FILE = {"code": "stale", "where": None, "params": {}}
# A value for each parameter that a sentence may name.
VALUES = {
    **dict.fromkeys(("queues", "unowned", "doubly_owned"), PLACES),
    **{name: ["c1", "c2"] for name in ("owners", "expected", "brokers", "client_ids")},
    **{name: {"AVG": ["c1"], "orderly": ["c2"]} for name in ("strategies", "listeners", "values")},
    **dict.fromkeys(("changed_seconds", "silent_seconds", "renewed_seconds", "overdue_seconds"), 90.0),
    **dict.fromkeys(("members", "idle", "groups", "others", "waiting_messages", "worst_level"), 3),
    **dict.fromkeys(("topic", "client_id", "holder", "setting", "error"), "name"),
    "topics": ["Orders"],
    "missing": {"broker-a": ["c1"]},
    "connections": {"c1": {"broker-a": ["10.0.0.1:1", "10.0.0.2:1"]}},
    "checks": ["retries_discarded"],
    "levels": [3, 4],
    "why": "silent",
    "file_problem": '{"code": "empty", "params": {"path": "/a"}}',
}


def named(code: FindingCode) -> dict:
    """The parameters that the words of a code name, with all of its notes."""
    spec = SPECS[code]
    words = " ".join(map(str, [spec.sentence or "", spec.remedy, *spec.notes.values()]))
    names = set(re.findall(r"%\((\w+)\)s", words)) - {"broker", "group", "file_finding"}
    return {name: VALUES[name] for name in names} | {"notes": list(spec.notes)}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("code", sorted(set(FindingCode) - {FindingCode.OFFSET_FILE}))
def test_every_finding_has_whole_words(code, language) -> None:
    row = {"severity": "critical", "cluster": "prod", "group": "billing", "broker": "broker-a"}
    with override(language):
        words = finding_row(code, named(code), since=NOW, last_seen_at=NOW, **row)
    said = [words.title, words.text, words.help, words.remedy]
    assert all(said)
    assert not [text for text in said if "%(" in text]
    if language == "zh-hans":
        assert all(re.search(r"[\u4e00-\u9fff]", text) for text in (words.title, words.help, words.remedy))


def test_a_finding_of_a_file_is_said_as_at_its_row() -> None:
    stored = {"code": "unknown_topic", "where": "line 3", "params": {"name": "Gone"}}
    said = finding_sentence(FindingCode.OFFSET_FILE, {"file_finding": stored, "others": 4, "notes": ["more"]})
    assert "Gone" in said
    assert said.endswith("4 more of this kind.")


def test_what_follows_from_a_cause_stands_behind_it() -> None:
    params = {"strategies": {"AVG": ["c1"], "RING": ["c2"]}, "unowned": PLACES}
    said = finding_sentence(FindingCode.STRATEGIES_DIFFER, params)
    assert said.endswith("Not consumed: 2 queues of Orders on broker-a (0, 1).")


def test_queues_that_a_sentence_names_are_not_named_twice() -> None:
    said = finding_sentence(FindingCode.UNOWNED_NO_START, {"unowned": PLACES, "expected": []})
    assert said.count("Not consumed") == 1
    assert "Assigned to nobody" in said


def test_every_kind_of_parameter_that_is_formatted_is_named_somewhere() -> None:
    assert FORMATS.keys() <= VALUES.keys() | {"file_finding"}


def test_checks_that_are_unknown_are_told_apart_by_quotes() -> None:
    said = finding_sentence(FindingCode.RETRY_CHECKS_UNKNOWN, {"checks": ["retries_discarded", "retried_in_place"]})
    assert f"“{SPECS[FindingCode('retries_discarded')].title}”, “A failed message blocks its queue”" in said
