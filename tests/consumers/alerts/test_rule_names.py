"""The names that built-in rules are made with have words in each language."""

from importlib import import_module

import pytest
from django.utils.translation import override

from consumers.alerts.queries.words import BUILT_IN_NAMES, rule_name_words


def test_every_built_in_rule_is_made_with_one_of_them():
    made = import_module("consumers.migrations.0003_rules").RULES
    assert [rule[1] for rule in made] == list(BUILT_IN_NAMES)


@pytest.mark.parametrize("name", BUILT_IN_NAMES)
def test_it_is_shown_in_the_language_of_the_page(name):
    with override("zh-hans"):
        assert rule_name_words(name) != name


def test_a_name_that_somebody_gave_is_shown_as_it_is():
    with override("zh-hans"):
        assert rule_name_words("No") == "No"
