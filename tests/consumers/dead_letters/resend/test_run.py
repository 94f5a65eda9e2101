"""What ends a re-send before anything is sent."""

from typing import Any

from consumers.dead_letters.resend.run import run
from consumers.models import ResendOutcome, ResendStatus
from tests.consumers.dead_letters.resend.conftest import Site, an_item, outcomes
from tests.fake_clock import FakeClock


def test_one_that_runs_ends_once_its_cluster_is_read_only(site: Site, clock: FakeClock, settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["*"]
    resend = site.running(site.died(2))
    an_item(resend, 7, ResendOutcome.SENDING, target_topic=site.retry)
    run(resend.pk, clock, clock.pause)
    resend.refresh_from_db()
    assert site.broker.keys(site.retry) == []
    assert outcomes(resend) == [ResendOutcome.CANCELLED, ResendOutcome.CANCELLED, ResendOutcome.UNKNOWN]
    # Whether one arrived is not known.
    assert resend.status == ResendStatus.PARTIAL
    assert resend.error is not None
    assert "marked read-only" in resend.error
