"""Requests made of the schema, well-formed and not: no answer is an error of the site, and each is as the schema says.

`FUZZ_EXAMPLES=200 pytest tests/consumers/rest/test_fuzz.py` looks longer.
"""

import os
from contextlib import contextmanager

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from consumers.lake.store import Lake
from consumers.rest.schema import PLACES
from tests.openapi import operations, schema
from tests.plugins.api import TOKEN
from tests.walk.world import a_known_world

pytestmark = pytest.mark.django_db
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "3"))
PARTS = 2
OPERATIONS = operations()
FUZZ = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def one_connection():
    """WithHeartbeat from one request to the next, as Django's own client for tests keeps it: all are in one
    transaction."""
    at_both_ends = (request_started, request_finished)
    for end in at_both_ends:
        end.disconnect(close_old_connections)
    yield
    for end in at_both_ends:
        end.connect(close_old_connections)


@pytest.fixture
def fuzzed(operator_api, stopped_clock, one_connection, settings, tmp_path):
    """The schema, over a site on which everything is known, and nobody works."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    settings.RESET_PLAN_WAIT_SECONDS = 0
    settings.API_RATE = 0
    settings.ALLOWED_HOSTS = ["*"]
    a_known_world(Lake.at(str(tmp_path)))
    found = schemathesis.openapi.from_dict(schema())
    found.app = WSGIHandler()
    return found


@contextmanager
def undone():
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def complaints(case):
    """What is wrong with the answer; 503 is said where Redis is wanted, and is none."""
    with undone():
        answer = case.call(headers={"Authorization": f"Token {TOKEN}"})
    is_expected = answer.status_code == 503 and "The database" not in answer.text
    checks = CHECKS if is_expected else [not_a_server_error, *CHECKS]
    try:
        case.validate_response(answer, checks=checks)
    except FailureGroup as group:
        yield from (f"{case.method} {case.formatted_path} {case.query} {case.body}: {one}" for one in group.exceptions)


def ways(operation):
    """Of what there is, well-formed and not; and of anything."""
    there = {"path_parameters": {name: PLACES[name] for name in PLACES if f"{{{name}}}" in operation.path}}
    yield GenerationMode.POSITIVE, there
    queried = [one for one in operation.said.get("parameters", ()) if one["in"] == "query"]
    if queried or operation.body is not None:
        yield GenerationMode.NEGATIVE, there
    if "{" in operation.path:
        yield GenerationMode.POSITIVE, {}


@pytest.mark.parametrize("part", range(PARTS))
def test_no_request_is_an_error_of_the_site_or_answered_otherwise_than_described(fuzzed, part, caplog):
    caplog.set_level("ERROR", "django.request")
    found = []

    def ask(case):
        found.extend(complaints(case))

    for operation in OPERATIONS[part::PARTS]:
        asked = fuzzed[operation.path][operation.method]
        for mode, places in ways(operation):
            FUZZ(given(case=asked.as_strategy(generation_mode=mode, **places))(ask))()
    assert found == [], "\n\n".join(found)
