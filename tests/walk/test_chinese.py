"""Every page in Chinese: no English sentence but names, codes, commands, and what is not translated yet."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.test import Client

from tests.walk.page_text import said
from tests.walk.test_pages import PATHS
from tests.world import NOW

# Three words in a row, one of them in small letters: a sentence, and not a name or a code.
SENTENCE = re.compile(r"\b[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")
# A mark of Latin text beside a Chinese letter, and a space between two of them: 5 分钟 后.
LATIN_MARKS = re.compile(r"[一-鿿）”][,;:]|[,;] [一-鿿]|[一-鿿] [一-鿿]")
JSON = re.compile(r"[{\[][\"'{\[]|[a-z]_[a-z_]+: ")
# Commands, what brokers and operating systems answer, and what somebody typed.
VERBATIM = re.compile(
    r"manage\.py|celery -A|mqadmin|grep -F|timed out|No such file|orders were lost|the database was down|Redis does not"
    r"|the database moves|Restart one member at a time"
)
# Sentences of other rooms that are not marked for translation yet. Whoever marks one takes it out here.
UNMARKED = re.compile(
    r"The Spark session did not answer|is not a strategy of RocketMQ's own|could not be read: connection refused"
)

# What the forms of the site refuse, field by field.
PLAN = "/groups/prod/billing/resets/plan/"
REFUSED = [
    ("/alerts/silences/", {"ends_at": "soon", "group_pattern": "[", "time_zone": "Mars"}),
    ("/alerts/channels/add/", {}),
    ("/alerts/channels/add/", {"kind": "alertmanager", "name": "x", "url": "nobody"}),
    ("/alerts/notes/add/", {}),
    ("/alerts/notes/add/", {"group_pattern": "[", "position": "x", "runbook_url": "x", "labels": "x"}),
    ("/alerts/rules/add/", {"name": "Far behind", "measure": "lag_messages", "threshold": "x", "overrides": "x"}),
    ("/alerts/rules/add/", {"name": "q", "measure": "state", "comparison": "in", "states": "zz", "severity": "zz"}),
    (PLAN, {}),
    *((PLAN, {"kind": kind, "value": "x"}) for kind in ("time", "offset", "shift", "copy", "offsets", "skip_older")),
    ("/group-filters/", {"query": "x=1"}),
    ("/groups/prod/billing/resends/plan/", {"destination": "x", "rate_per_second": "x"}),
    ("/account/tokens/", {"days": "x"}),
]


@pytest.fixture
def chinese(known_world: tuple[str, int], db: None, settings: Any) -> Iterator[Client]:
    settings.CONSUMERSCOPE_LAKE, _group = known_world
    with time_machine.travel(NOW, tick=False):
        client = Client()
        client.force_login(User.objects.create(username="ada", is_staff=True, is_superuser=True))
        client.cookies["language"] = "zh-hans"
        yield client


@pytest.mark.either_database("tests/walk/test_pages.py asks the same of the database there")
def test_no_page_has_an_english_sentence(chinese: Client) -> None:
    found = []
    for path in PATHS:
        answer = chinese.get(path)
        assert answer.status_code == 200
        assert answer["Content-Language"] == "zh-hans"
        found += [(path, text) for text in said(answer.text) if _is_english(text)]
    assert not found, "\n".join(f"{path}: {text}" for path, text in found)


@pytest.mark.either_database("tests/walk/test_pages.py asks the same of the database there")
def test_no_page_has_latin_marks_or_spaces_between_chinese_letters(chinese: Client) -> None:
    texts = {(path, text) for path in PATHS for text in said(chinese.get(path).text)}
    found = sorted(f"{path}: {text}" for path, text in texts if LATIN_MARKS.search(text))
    assert not found, "\n".join(found)


@pytest.mark.either_database("the list and the page of each kind of row ask the same of both")
def test_no_admin_page_has_an_english_sentence_or_json(chinese: Client) -> None:
    found = []
    for model in (one for one in site._registry if one._meta.app_label == "consumers"):
        path = f"/admin/consumers/{model._meta.model_name}/"
        rows = model.objects.order_by("pk")[:2]
        for page in (path, *(f"{path}{row.pk}/change/" for row in rows)):
            answer = chinese.get(page)
            assert answer.status_code == 200
            texts = [*said(answer.text.partition('id="content"')[2])]
            found += [(page, text) for text in texts if _is_english(text) or JSON.search(text)]
    assert not found, "\n".join(f"{path}: {text}" for path, text in found)


@pytest.mark.either_database("what a form refuses is refused before any database is asked")
@pytest.mark.parametrize(("path", "fields"), REFUSED)
def test_no_form_answers_with_an_english_sentence(chinese: Client, path: str, fields: dict[str, str]) -> None:
    answer = chinese.post(path, fields)
    assert answer.status_code == 400
    assert not [text for text in said(answer.text) if _is_english(text)]


def _is_english(text: str) -> bool:
    return bool(SENTENCE.search(text)) and not VERBATIM.search(text) and not UNMARKED.search(text)
