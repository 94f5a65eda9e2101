"""The child's side of `calling.py`: each line of JSON names a method and its arguments.

{"call": "create_topic", "arguments": {"name": "Orders", "queues": 4}}  →  {"result": null} or {"error": "…"}
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO


def serve(calls: object, answers: TextIO) -> NoReturn:
    """Until standard input ends; `calls` has a method for each call."""
    print(json.dumps({"result": "ready"}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(calls, json.loads(line))), file=answers, flush=True)
    # Java's threads would keep the process; the tests are over and nothing is to be saved.
    os._exit(0)


def _answer(calls: object, request: dict[str, Any]) -> dict[str, Any]:
    call: Callable[..., Any] = getattr(calls, request["call"])
    try:
        return {"result": call(**request["arguments"])}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
