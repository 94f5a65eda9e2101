"""Run as `python -m tests.bench.pages.page_times GROUPS QUEUES`: opens every page, part and figure of a site of as many
groups, as one of its admins, in a database of its own. Prints, as a line of JSON, by address the median seconds of the
server and the bytes of the answer."""

import json
import os
import sys
import time
from datetime import UTC, datetime
from statistics import median

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
TIMES = 5
# Somebody in the middle of the site. What has rows of its own, such as an incident, is not there.
NAMES = {"cluster": "bench", "group": "group-00100", "topic": "Topic00100", "broker": "broker-a", "queue_id": "0"}


def main(groups: int, queues: int) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, connections

    from tests.bench.site_rows import fill, fill_members

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    fill_members(fill(groups, queues, now), now)
    User.objects.create_superuser("ann")
    # As PostgreSQL does by itself within a minute.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    connections.close_all()
    # Whoever only fills a database has not loaded what answers requests.
    os.execv(sys.executable, [sys.executable, "-m", "tests.bench.pages.page_times", "open"])


def open_all() -> None:
    # As the web server has at its start.
    from django.contrib.auth.models import User
    from django.test import Client as Browser

    import dashboard.wsgi  # noqa: F401
    from consumers.models import Client
    from dashboard.page_urls import urlpatterns
    from tests.bench.site_rows import read_again
    from tests.walk.addresses import addresses, named

    browser = Browser(SERVER_NAME="127.0.0.1")
    browser.force_login(User.objects.get())
    member = Client.objects.filter(group__name=NAMES["group"]).values_list("client_id", flat=True)[0]
    names = {**NAMES, "client": member}
    told = {}
    for address in addresses(named(urlpatterns, names), names=names):
        # Opening them takes a while: nothing of the site is to become old.
        read_again(datetime.now(UTC))
        answer = browser.get(address)
        # 503: no broker is there to be asked.
        if answer.status_code == 500:
            raise SystemExit(f"{address} answered {answer.status_code}.")
        if answer.status_code == 200:
            told[address] = {
                "seconds": median(_seconds(browser, address) for _ in range(TIMES)),
                "bytes": _size(answer),
            }
    print(json.dumps(told), flush=True)


def _seconds(browser: object, address: str) -> float:
    began = time.perf_counter()
    _size(browser.get(address))  # type: ignore[attr-defined]
    return time.perf_counter() - began


def _size(answer: object) -> int:
    """All of it is made, also where it is sent in pieces."""
    pieces = answer.streaming_content if answer.streaming else [answer.content]  # type: ignore[attr-defined]
    return sum(len(piece) for piece in pieces)


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "open":
        open_all()
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
