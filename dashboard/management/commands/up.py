"""`manage.py up`: everything on this machine, until Ctrl-C. `make run` is this, after the set-up."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.launch.launcher import Launch
from dashboard.launch.supervisor import LaunchFailed


class Command(BaseCommand):
    help = "Runs everything on this machine: Redis, web, workers, beat and, where no cluster is named, a demo cluster."
    # Before the port and the home are known to be free, nothing is read or started.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--namesrv", metavar="HOST:PORT[;…]", help="name servers of your own cluster; no demo then")
        parser.add_argument("--port", type=int, default=8000, help="of the web pages, on 127.0.0.1 (8000)")

    def handle(self, *args: Any, **options: Any) -> None:
        os.chdir(settings.BASE_DIR)
        launch = Launch(
            home=settings.CONSUMERSCOPE_HOME,
            port=options["port"],
            namesrv=options["namesrv"],
            redis_url=os.environ.get("REDIS_URL") or None,
            environ=os.environ,
            say=self._say,
        )
        try:
            launch.run()
        except LaunchFailed as failure:
            raise CommandError(str(failure)) from failure

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
