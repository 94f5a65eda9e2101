"""A worker in a process of its own that evaluates one moment after the other, a second apart, and prints each.

Arguments: the first moment, in ISO 8601, and how many.
"""

import sys
from datetime import datetime, timedelta

import django
from django.utils import timezone


def evaluate_all(first: datetime, count: int) -> None:
    from consumers.alerts.evaluation.run import evaluate

    for number in range(count):
        evaluate(first + timedelta(seconds=number), timezone.now)
        print(number, flush=True)


if __name__ == "__main__":
    django.setup()
    evaluate_all(datetime.fromisoformat(sys.argv[1]), int(sys.argv[2]))
