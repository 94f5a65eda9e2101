"""Every code that a row holds has words in both languages."""

import pytest
from django.utils.translation import override

from consumers.models import (
    AuditAction,
    Comparison,
    DeliveryStatus,
    Destination,
    Doubt,
    Ending,
    GroupKind,
    HealthLevel,
    IncidentEventKind,
    IncidentStatus,
    OffsetFileKind,
    PreviewStatus,
    ResetMethod,
    ResetOutcome,
    ResetStatus,
    ResetStep,
    Severity,
    SubjectKind,
    TimeLagKind,
    TopicKind,
)
from consumers.queries import codes
from consumers.words.resets import STEPS

OF_ENUMS = {
    AuditAction: codes.AUDIT_ACTIONS,
    Comparison: codes.COMPARISONS,
    DeliveryStatus: codes.DELIVERIES,
    Destination: codes.DESTINATIONS,
    Doubt: codes.CLOCK_DOUBTS,
    Ending: codes.ENDINGS,
    GroupKind: codes.GROUP_KINDS,
    HealthLevel: codes.HEALTH,
    IncidentEventKind: codes.INCIDENT_EVENTS,
    IncidentStatus: codes.INCIDENTS,
    OffsetFileKind: codes.OFFSET_FILE_KINDS,
    PreviewStatus: codes.PREVIEWS,
    ResetMethod: codes.RESET_METHODS,
    ResetOutcome: codes.RESET_OUTCOMES,
    ResetStatus: codes.RESETS,
    ResetStep: STEPS,
    Severity: codes.SEVERITIES,
    SubjectKind: codes.SUBJECTS,
    TimeLagKind: codes.TIME_LAG_KINDS,
    TopicKind: codes.TOPIC_KINDS,
}


@pytest.mark.parametrize("enum", OF_ENUMS, ids=lambda enum: enum.__name__)
def test_every_code_has_words_in_its_order(enum) -> None:
    assert list(OF_ENUMS[enum]) == list(enum)


@pytest.mark.parametrize("enum", OF_ENUMS, ids=lambda enum: enum.__name__)
def test_no_words_stay_english(enum) -> None:
    english = [str(words) for words in OF_ENUMS[enum].values()]
    with override("zh-hans"):
        same = {str(words) for words in OF_ENUMS[enum].values()} & set(english)
    assert same <= {"OK", "Broker"}
