"""What a rule would have done over the past, as it is shown once it is known."""

import re

import pytest

from consumers.models import RulePreview
from consumers.vocabulary.alerts import PreviewReason
from consumers.vocabulary.reasons import stored_reason
from dashboard.pages.alerts.alert_preview import unknown_words
from tests.alert_rows import a_preview
from tests.preview_pages import AUDIT, BILLING, RULE, a_day, data, done, incident, shown
from tests.world import ago

pytestmark = pytest.mark.django_db


def test_it_says_how_often_and_of_whom(operator):
    said = shown(operator, done())
    assert "It would have fired 3 times in 1 d: 2 × billing, 1 × audit." in said
    picture = said.split("incident-bars")[1].split("</svg>")[0]
    assert picture.count('class="fired"') == 2
    assert picture.count('class="fired open"') == 1
    assert "still firing at the end of the range" in said
    assert 'aria-label="By day, in UTC: 2026-03-13: 2 firings; 2026-03-14: 1 firing"' in said
    assert "would still at the end" in said
    assert "series · step 1 min · took" in said
    assert 'href="/groups/prod/billing/"' in said
    assert "A condition that was met before the range counts from the start of the range." in said


def test_what_is_not_known_is_said(operator):
    unknown = {"unknown_share": 0.12, "unknown_share_in_data": 0.12, "unknown_subjects": 3}
    said = shown(operator, done(fired=0, incidents=[], by_subject=[], **unknown))
    assert "It would not have fired in 1 d, as far as known." in said
    assert "12 % of the values in the range are unknown" in said
    assert "No data for 3 of 40." in said


@pytest.mark.parametrize(
    ("share", "says"), [(0.0, ""), (None, ""), (0.001, "0.1 % of"), (0.9999, "99.9 % of"), (1.0, "100 % of")]
)
def test_a_share_that_is_not_whole_is_not_called_so(share, says):
    assert unknown_words({"unknown_share": share, "unknown_subjects": 0, "subjects": 4}).startswith(says)


def test_a_day_of_which_there_are_minutes_is_not_called_a_day(operator):
    """What is not known of the range stands in the sentence, and is hatched across the picture."""
    said = shown(operator, done(unknown_share=0.98, **data(1500, 0)))
    verdict = "It would have fired 3 times in 25 min of data (02:35–03:00 UTC): 2 × billing, 1 × audit."
    assert f"{verdict} No data for the other 23 h 35 min." in said
    assert "No data from 13 Mar 03:00:00 to 02:35:00 UTC" in said
    assert 'id="unknown"' not in said, "what the sentence tells is not told twice"


def test_data_with_gaps_is_counted_without_them(operator):
    said = shown(operator, done(fired=0, incidents=[], by_subject=[], **data(3600, 600, 1800)))
    assert "It would not have fired in 30 min of data (with gaps, 02:00–02:50 UTC), as far as known." in said
    assert "No data for the other 23 h 30 min." in said
    assert said.count('fill="url(#hatch)"><title>No data') == 2, "the picture is there without a firing, too"


def test_a_range_without_data_is_not_calm(operator):
    nothing = {"known_from": None, "known_to": None, "known_seconds": 0, "unknown_seconds": 86_400}
    said = shown(operator, done(fired=0, incidents=[], by_subject=[], unknown_share=1.0, **nothing))
    assert "No data in this range." in said
    assert "would not have fired" not in said


def test_what_fires_still_is_known_to_do_so_until_the_data_ends(operator):
    """The newest fired 10 min ago; of the last 4 min there is no data."""
    said = shown(operator, done(**data(86_400, 240)))
    assert re.search(r"at least\s+6 min<", said)


def test_when_it_is_not_known_is_drawn(operator):
    spans = [{"from": ago(70_000).isoformat(), "to": ago(60_000).isoformat()}]
    of_subjects = [{"subject": BILLING, "fired": 2, "unknown_spans": spans}, {"subject": AUDIT, "fired": 1}]
    said = shown(operator, done(by_subject=of_subjects, per_day=[a_day("2026-03-13", 2, 0, 0.25)]))
    assert "billing: not known from 13 Mar 07:33:20 to 13 Mar 10:20:00 UTC" in said
    assert "2026-03-13: 2 firings, 25 % not known" in said


def test_what_is_of_groups_that_are_left_alone_is_told_apart(operator):
    reason = "paused by configuration: consumeEnable is false"
    alone = [{**one, "excluded": reason} if one["subject"] == AUDIT else one for one in done().result["incidents"]]
    of_subjects = [{"subject": BILLING, "fired": 2}, {"subject": AUDIT, "fired": 1, "excluded": reason}]
    said = shown(operator, done(incidents=alone, by_subject=of_subjects, fired_excluded=1))
    assert f"1 of 3 belong to groups that the rule excludes today: {reason}." in said
    assert said.count('<rect class="fired apart"') == 1


def test_reasons_are_stored_as_codes_and_read_in_the_language_of_the_reader(operator):
    said = {"rule": 1, "fired": 0, "fired_before": 0, "only_replayed": 1, "only_evaluated": 0, "elsewhere": 0}
    reasons = [stored_reason(PreviewReason.RULE_DISABLED), "of another version"]
    row = done(evaluated=said | {"incidents": [], "left_out": 0, "reasons": reasons})
    assert "<li>The saved rule is disabled.</li><li>of another version</li>" in shown(operator, row)
    operator.cookies["language"] = "zh-hans"
    assert "<li>已保存的规则已停用。</li>" in shown(operator, row)


def test_windows_wider_than_a_minute_are_said_beside_the_number(operator):
    assert "Evaluated once per 10 min: shorter conditions may be missing." in shown(operator, done(step_seconds=600))
    assert "Evaluated once" not in shown(operator, done())


def evaluated(**said):
    over = {"fired_at": ago(79_900).isoformat(), "to": ago(79_100).isoformat(), "unknown": {}}
    found = {"rule": 7, "fired": 3, "fired_before": 0, "only_replayed": 0, "only_evaluated": 0, "elsewhere": 0}
    found |= {"incidents": [{"id": "1", "subject": BILLING, **over}], "left_out": 0, "reasons": []}
    return found | said


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({}, "fired 3 times in this range. The replay finds the same."),
        ({"fired": 1, "fired_before": 2}, "fired 1 time in this range, and 2 went on from before. The replay"),
        ({"only_evaluated": 1, "elsewhere": 1}, "Missing in the replay: 2. Only in the replay: none."),
        ({"only_replayed": 4}, "Missing in the replay: none. Only in the replay: 4."),
    ],
)
def test_what_was_evaluated_then_stands_beside_it(operator, found, says):
    said = shown(operator, done(evaluated=evaluated(**found, reasons=["The rule was changed."])))
    assert says in said
    assert "<li>The rule was changed.</li>" in said
    assert 'href="/alerts/?rule=7"' in said
    assert said.count('<rect class="evaluated"') == 1


def test_one_from_before_more_was_kept_is_shown_still(operator):
    row = done(per_day=[{"day": "2026-03-13", "fired": 3}])
    spans = ("known_from", "known_to", "known_seconds", "unknown_seconds", "unknown_spans", "unknown_share_in_data")
    for name in ("evaluated", "fired_excluded", "fired_subjects", *spans):
        del row.result[name]
    row.save()
    RulePreview.objects.filter(pk=row.pk).update(since=ago(86_400))
    said = shown(operator, row)
    assert "It would have fired 3 times in an unknown part of 1 d: 2 × billing" in said
    assert "This preview has no data coverage: preview the rule again." in said


def test_nothing_to_look_at_is_not_calm(operator):
    empty = {"fired": 0, "subjects": 0, "incidents": [], "by_subject": [], "unknown_share": None}
    assert "The rule selects nothing" in shown(operator, done(**empty))


def test_others_than_those_named_are_counted(operator):
    others = [{"subject": BILLING | {"title": f"g{n}", "group": f"g{n}"}, "fired": 2} for n in range(7)]
    assert "2 × g4 and 4 of others." in shown(operator, done(fired=14, by_subject=others))


def test_states_have_no_worst(operator):
    row = a_preview(rule={**RULE, "measure": "state", "comparison": "in", "threshold": None, "states": ["STOP"]})
    result = done().result | {"incidents": [incident(BILLING, 600, None, None)], "fired": 1}
    RulePreview.objects.filter(pk=row.pk).update(status="done", result=result, seconds=1.0)
    said = shown(operator, row)
    assert "state = stopped" in said
    assert ">Worst</th>" not in said
