"""The names that built-in rules are made with have words in each language."""

from importlib import import_module

import pytest
from django.utils.translation import override

from consumers.vocabulary.alerts import IncidentSentence
from consumers.vocabulary.reasons import stored_reason
from consumers.words.alerts import BUILT_IN_NAMES, BUILT_IN_RULES, rule_name_words
from consumers.words.reasons import stored_words


def test_every_built_in_rule_is_made_with_one_of_them():
    made = import_module("consumers.migrations.0003_rules").RULES
    assert [rule[0] for rule in made] == list(BUILT_IN_RULES)


def test_the_sentence_of_an_event_names_a_built_in_rule_in_the_language_of_the_reader():
    event = stored_reason(IncidentSentence.RULE_ENDED, where="prod/billing", rule="Stopped", lasted_seconds=60)
    assert stored_words(event).startswith("prod/billing: Stopped resolved")
    with override("zh-hans"):
        assert "Stopped" not in stored_words(event)


@pytest.mark.parametrize("name", BUILT_IN_NAMES)
def test_it_is_shown_in_the_language_of_the_page(name):
    with override("zh-hans"):
        assert rule_name_words(name) != name


def test_a_name_that_somebody_gave_is_shown_as_it_is():
    with override("zh-hans"):
        assert rule_name_words("No") == "No"
