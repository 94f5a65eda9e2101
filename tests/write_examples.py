"""Writes the answers among the schema's examples: `pytest tests/write_examples.py`, after a field has come or gone.

No tier collects it, as its name is that of no test.
"""

import json

import pytest

from consumers.dead_letters.export_stream import ExportFormat, columns_of, lines_of
from consumers.lake.store import Lake
from consumers.models import DeadLetter
from consumers.rest.schema import ENDINGS, FOLDER, PLACES, YAML, example_files
from tests.openapi import JSON, component, operations
from tests.walk.world import a_known_world

# Their answers are of brokers, which this world does not have: they are written by hand.
ASK_BROKERS = frozenset({"message_attempts"})
# As many of a list as show what it is of.
SHOWN = 2
EXPORTED = {"text/csv": ExportFormat.CSV, "application/x-ndjson": ExportFormat.JSONL}


def shortened(value):
    if isinstance(value, list):
        return [shortened(one) for one in value[:SHOWN]]
    return {name: shortened(one) for name, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.django_db
def test_answers_are_written(api, stopped_clock, settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_known_world(Lake.at(str(tmp_path)))
    for operation in (one for one in operations() if one.method == "get" and one.name not in ASK_BROKERS):
        address = operation.address(PLACES)
        for kind, content in operation.answers.items():
            if kind == JSON:
                document = shortened(api.get(address).json())
                _write(f"{component(content)}.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
            elif kind == YAML:
                # Comments, and the first rule.
                _write(
                    f"{operation.name}.yaml", "- alert".join(api.get(address).text.split("- alert")[:2]).rstrip() + "\n"
                )
            elif operation.name == "group_dead_letters_export":
                # That one asks brokers.
                _write(f"{operation.name}.{ENDINGS[kind]}", _exported(EXPORTED[kind]))
            else:
                answer = api.get(address, {} if "export" in address else {"format": "csv"})
                lines = b"".join(answer.streaming_content).decode().splitlines(keepends=True)
                _write(f"{operation.name}.csv", "".join(lines[: 1 + SHOWN]))

    page = json.loads(example_files()["ChannelDeliveriesPage.json"].read_text())
    _write("Delivery.json", json.dumps(page["results"][0], indent=1, ensure_ascii=False) + "\n")


def _exported(format):
    columns = columns_of(with_bodies=False)
    lines = lines_of(format, columns)
    letter = vars(DeadLetter.objects.order_by("pk").first())
    return lines.head() + lines.line({name: letter.get(name, False) for name in columns})


def _write(name, text):
    example_files().get(name, FOLDER / name).write_bytes(text.encode())
