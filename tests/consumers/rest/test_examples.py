"""The schema's examples: what a known world answers, as the schema describes it.

After a field has come or gone, `pytest tests/write_examples.py` writes the answers anew.
"""

import pytest
from django.db import transaction
from jsonschema import Draft202012Validator

from consumers.lake.store import Lake
from consumers.rest.schema import ENDINGS, PLACES, PROBLEMS, example_files
from tests.openapi import JSON, component, example, operations, schema
from tests.walk.world import a_known_world

OPERATIONS = operations()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_body_answer_and_problem_has_an_example(operation):
    contents = dict(operation.answers)
    if operation.body is not None:
        contents["body"] = operation.body
    assert [kind for kind, content in contents.items() if example(content) is None] == []
    problems = {code for code in operation.said["responses"] if code.startswith(("4", "5"))}
    assert problems <= {str(code) for code in PROBLEMS}


@pytest.mark.parametrize("name", sorted(schema()["components"]["examples"]))
def test_an_example_is_as_its_schema_says_and_leaves_out_nothing(name):
    component_name = "Problem" if name.startswith("Problem") else name
    value = schema()["components"]["examples"][name]["value"]
    document = schema() | {"$ref": f"#/components/schemas/{component_name}"}
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(document).iter_errors(value)]
    assert errors == []
    if f"{name}.json" in example_files() and not name.endswith("Request"):
        described = schema()["components"]["schemas"][component_name]
        assert set(value) == set(described["properties"])


def test_every_file_is_an_example_of_something():
    named = {component(content) for one in OPERATIONS for content in (*one.answers.values(), one.body) if content}
    texts = {f"{one.name}.{ending}" for one in OPERATIONS for ending in ENDINGS.values()}
    assert set(example_files()) <= {f"{name}.json" for name in named} | texts


@pytest.mark.django_db
def test_a_body_of_an_example_makes_sense(operator_api, stopped_clock, settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    settings.RESET_PLAN_WAIT_SECONDS = 0
    a_known_world(Lake.at(str(tmp_path)))
    refused = []
    # The world's channel has an address that this site's key does not open.
    for operation in (one for one in OPERATIONS if one.body and one.name != "replace_channel"):
        with transaction.atomic():
            call, path = getattr(operator_api, operation.method), operation.address(PLACES)
            answer = call(path, example(operation.body), content_type=JSON)
            transaction.set_rollback(True)
        # What is refused as things stand made sense.
        if answer.status_code not in (200, 201, 202, 409, 503):
            refused.append((operation.name, answer.content))
    assert refused == []
