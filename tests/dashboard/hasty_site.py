"""A WSGI application that says how much it was sent, and the site's worker with less patience."""

from collections.abc import Callable, Iterable
from typing import Any

from dashboard import patience
from dashboard.patience import PatientWorker

patience.REQUEST_SECONDS = 1.0

__all__ = ["PatientWorker", "application"]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    answer = f"{environ['PATH_INFO']} {len(environ['wsgi.input'].read())}".encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]
