"""What a reading takes from the site's settings."""

from dataclasses import dataclass, field

from django.conf import settings

from consumers.lake.store import Lake
from consumers.polling.delays.answers import DelayLimits
from consumers.polling.delays.look_up import HeadLimits
from consumers.polling.file_poller import FileLimits
from consumers.polling.members.membership import Budget
from consumers.polling.samples.reading import SampleBudget

from .memory import Cadence
from .statistics_poller import StatisticsLimits


@dataclass(frozen=True)
class PollSettings:
    cadence: Cadence
    budget: Budget
    deadline_seconds: float
    lake: Lake
    disk_floor_mib: float
    samples: SampleBudget = field(default_factory=SampleBudget)
    # No offset file is read if no folder is named.
    files: FileLimits = field(default_factory=lambda: FileLimits(folders=()))
    store_config_seconds: float = 30
    delays: DelayLimits = field(default_factory=DelayLimits)
    heads: HeadLimits = field(default_factory=HeadLimits)
    statistics: StatisticsLimits = field(default_factory=StatisticsLimits)

    @classmethod
    def of_site(cls) -> "PollSettings":
        return cls(
            cadence=Cadence(settings.POLL_CONFIG_SECONDS, settings.POLL_MIN_OFFSET_SECONDS),
            budget=Budget(
                settings.POLL_MEMBERSHIP_CALLS,
                settings.POLL_RUNNING_INFO_CALLS,
                settings.POLL_MEMBERSHIP_SECONDS,
                settings.POLL_RUNNING_INFO_SECONDS,
                settings.POLL_PATIENCE_SECONDS,
            ),
            deadline_seconds=settings.POLL_CALL_DEADLINE_SECONDS,
            lake=Lake.at(settings.CONSUMERSCOPE_LAKE),
            disk_floor_mib=settings.LAKE_DISK_FLOOR_MIB,
            samples=SampleBudget(
                settings.POLL_EXACT_CALLS,
                settings.POLL_START_CALLS,
                settings.POLL_TAG_CALLS,
                settings.JUDGE["clock_error_seconds"],
            ),
            files=FileLimits(
                tuple(settings.POLL_OFFSET_FOLDERS),
                settings.POLL_OFFSET_FILE_SECONDS,
                settings.POLL_OFFSET_FILES,
                settings.POLL_OFFSET_FILE_MIB,
                settings.POLL_OFFSET_FILE_DEADLINE_SECONDS,
            ),
            store_config_seconds=settings.POLL_STORE_CONFIG_SECONDS,
            delays=DelayLimits(
                settings.POLL_DELAY_CALLS,
                settings.POLL_RETRY_SAMPLE_CALLS,
                settings.POLL_RETRY_SAMPLE_SECONDS,
            ),
            heads=HeadLimits(settings.POLL_HEAD_SECONDS, settings.POLL_HEAD_CALLS),
            statistics=StatisticsLimits(settings.POLL_STATISTICS_CALLS),
        )
