"""The page of all components is in the reader's language, with its examples."""

import re

import pytest
from django.test import Client
from django.utils.html import strip_tags

pytestmark = pytest.mark.django_db

# Commands, names of methods, and what RocketMQ calls by itself.
TWO_WORDS = re.compile(r"\b[a-z]{2,} [a-z]{2,}\b")


def test_no_example_is_left_in_english(admin_client: Client) -> None:
    admin_client.cookies["language"] = "zh-hans"
    page = admin_client.get("/patterns/").content.decode()
    main = re.sub(r"(?s)<(code|pre)\b.*?</\1>", "", page[page.index("<main") : page.index("</main>")])
    assert TWO_WORDS.findall(strip_tags(main)) == []
