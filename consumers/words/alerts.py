"""Alerts in words: the evidence of rules, and what happens to incidents."""

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _, gettext_noop

from consumers.vocabulary.alerts import (
    AlertEvidence,
    DeliveryResult,
    IncidentSentence,
    PreviewReason,
    TemplateProblem,
    UrlProblem,
)

ALERT_EVIDENCE: dict[str, str | Promise] = {
    AlertEvidence.PARTS: _("%(parts)s"),
    AlertEvidence.STATE: _("state: %(state)s"),
    AlertEvidence.STATE_REASON: _("state unknown: %(rule)s"),
    AlertEvidence.FINDING: _("finding: %(finding)s"),
    AlertEvidence.LAG: _("%(lag_messages)s behind"),
    AlertEvidence.OLDEST_WAITS: _("its oldest message waits for %(waited_seconds)s"),
    AlertEvidence.DRAINS_IN: _("drains in %(drain_seconds)s"),
    AlertEvidence.EXPIRED: _("%(expired_messages)s expired unread"),
    AlertEvidence.EXPIRES_IN: _("the oldest unconsumed message may be deleted in %(left_seconds)s"),
    AlertEvidence.EXPIRED_MAYBE: _("the oldest unconsumed message may be deleted already"),
    AlertEvidence.EXPIRES_UNCONSUMED: _("messages may be deleted before consumption in %(left_seconds)s at this pace"),
    AlertEvidence.TIME_LAG_AT_LEAST: _("the time lag of a queue has no known upper bound"),
    AlertEvidence.EXPIRES_UNCONSUMED_AT_MOST: _(
        "messages may be deleted before consumption in %(left_seconds)s at most; a queue is unknown"
    ),
    AlertEvidence.RETRY_SHARE: _("%(share)s redeliveries for each message consumed, over the last hour"),
    AlertEvidence.MEMBERS: _("%(present_members)s"),
    AlertEvidence.NO_MEMBER: _("no member"),
    AlertEvidence.DLQ_INFLOW: _("DLQ inflow of %(dead_messages)s in the 5 minutes until %(end)s"),
    AlertEvidence.REBALANCES: _("%(rebalance_episodes)s within an hour"),
    AlertEvidence.REPEATS: _("%(found_repeats)s within an hour"),
    AlertEvidence.REDELIVERED: _("at least %(least_messages)s redelivered within an hour"),
    AlertEvidence.STABLE: _("the members are stable"),
    AlertEvidence.CHANGING: _("the members have been changing for %(changing_seconds)s"),
    AlertEvidence.NOTHING_HELD: _("no member has held the same oldest message since its previous report"),
    AlertEvidence.HELD: _("%(client)s has held the same oldest message of %(place)s for %(held_seconds)s"),
    AlertEvidence.UNOWNED: _("%(unowned_queues)s consumed by nobody"),
    AlertEvidence.DOUBLY_OWNED: _("%(shared_queues)s consumed by two members"),
    AlertEvidence.NO_FINDINGS: _("no findings"),
    AlertEvidence.MORE_FINDINGS: _("%(other_findings)s"),
    AlertEvidence.ALL_KNOWN: _("state and lag are known"),
    AlertEvidence.STATE_UNKNOWN: _("state unknown for %(unknown_seconds)s: %(why)s"),
    AlertEvidence.LAG_UNKNOWN: _("lag unknown for %(unknown_seconds)s: %(why)s"),
    AlertEvidence.NO_LOSS: _("no committed offset of the broker is lost"),
    AlertEvidence.LOSS: _("%(broker)s lost the offsets of %(losing_groups)s, %(lost_queues)s"),
    AlertEvidence.LAST_READ: _("last read %(at)s"),
    AlertEvidence.SLAVE_READ: _("slave %(slave)s is read in its master's place"),
    AlertEvidence.LOST_REPORTED: _("%(lost_queues)s with a lost offset: reported for the broker"),
    AlertEvidence.SCRAPED: _("scraped %(age_seconds)s ago"),
    AlertEvidence.LAST_SCRAPED: _("last scraped %(age_seconds)s ago"),
    AlertEvidence.NEVER_SCRAPED: _("never scraped since the cluster was added %(age_seconds)s ago"),
    AlertEvidence.BROKER_NEVER_SCRAPED: _("%(reason)s; never scraped, tried for %(age_seconds)s"),
    AlertEvidence.BROKER_LAST_SCRAPED: _("%(reason)s; last scraped %(age_seconds)s ago"),
    AlertEvidence.BROKERS_LISTED: _("name servers listed its brokers %(age_seconds)s ago"),
    AlertEvidence.BROKERS_LAST_LISTED: _("%(error)s; name servers last listed its brokers %(age_seconds)s ago"),
    AlertEvidence.SITE_SCRAPED: _("last scrape of any cluster %(age_seconds)s ago"),
    AlertEvidence.SITE_NEVER_SCRAPED: _("never scraped since the first cluster was added %(age_seconds)s ago"),
    AlertEvidence.SITE_EVALUATED: _("last evaluation %(age_seconds)s ago"),
    AlertEvidence.SITE_NEVER_EVALUATED: _("never evaluated since the first cluster was added %(age_seconds)s ago"),
    AlertEvidence.NOTHING_TO_SCRAPE: _("there is no cluster to scrape"),
    AlertEvidence.NOTHING_TO_EVALUATE: _("there is no cluster to evaluate"),
    AlertEvidence.NOTHING_SCRAPED: _("no cluster is being scraped"),
    AlertEvidence.CLUSTER_REMOVED: _("the cluster was just removed"),
    AlertEvidence.NAME_SERVERS_NOT_ASKED: _("the cluster is not being scraped, so its name servers are not asked"),
    AlertEvidence.NO_BROKER_OF: _("no broker of %(cluster)s is known yet"),
    AlertEvidence.BROKER_NOT_READ: _("%(broker)s is not read"),
    AlertEvidence.NOT_EVALUATED_SINCE: _("not evaluated since %(since)s"),
    AlertEvidence.NOT_IN_RANGE: _("the evaluated range does not contain the answer"),
    AlertEvidence.NOT_DRAINING: _("it consumes no faster than is produced, or its rates are unknown"),
    AlertEvidence.MIN_OFFSET_UNREAD: _("the min offset of a queue with lag was not read"),
    AlertEvidence.RETENTION_UNKNOWN: _("the message retention of a broker, or the time lag of a queue, is unknown"),
    AlertEvidence.VOLUME: _("%(volume_reason)s"),
    AlertEvidence.INFLOW_INCOMPLETE: _("the DLQ inflow of the last 5 evaluated minutes is not known in full"),
    AlertEvidence.POP_WITHOUT_OWNERS: _("POP consumers: their queues have no owner"),
    AlertEvidence.PULL_WITHOUT_OWNERS: _("pull consumers: not all of them report which queues they own"),
    AlertEvidence.HELD_UNREPORTED: _("%(client)s has not reported its cached messages"),
    AlertEvidence.OWNED_UNREPORTED: _("%(client)s has not reported which queues it owns"),
    AlertEvidence.OWNED_UNREPORTED_SHARED: _("one of the processes that share an id has not reported its queues"),
    AlertEvidence.MEMBERS_NOT_SINCE: _("not every broker has reported the group's members since %(since)s"),
    AlertEvidence.PARTLY_WATCHED: _(
        "not scraped, members not reported, or not evaluated from %(begin)s to %(end)s: there may be more"
    ),
    AlertEvidence.SETTLING: _("settling: two complete scrapes in a row must agree on the owners"),
    AlertEvidence.NOT_CHECKED: _("not checked of late: the general worker lags or does not run"),
    AlertEvidence.PAUSED: _("paused by configuration: consumeEnable is false"),
    AlertEvidence.OFFLINE_USUAL: _("offline by habit, and its time lag is within its usual maximum"),
    AlertEvidence.OFFLINE_BY_HABIT: _("offline by habit: without a member for %(percent)s %% of the last %(n_days)s"),
    AlertEvidence.PULLS: _("pull consumers: brokers list them only while they pull"),
    AlertEvidence.BROADCASTING: _("broadcasting: each member consumes all queues"),
    AlertEvidence.EVERY_OWNER: _("broadcasting: every member owns every queue"),
    AlertEvidence.ROLLOUT: _("rollout: each member restarts once"),
}

PREVIEW_REASONS: dict[str, str | Promise] = {
    PreviewReason.NO_SUBJECT: _("no subjects in the selection"),
    PreviewReason.NO_DATA: _("there is no data in the range"),
    PreviewReason.NO_SAVED_RULE: _("no saved rule has this name"),
    PreviewReason.STILL_FIRING: _("still firing at the end of the range"),
    PreviewReason.STATES_COMPARED: _("states are compared"),
    PreviewReason.NOT_RESOLVED: _("not resolved"),
    PreviewReason.NOT_STORED: _(
        "The stored data does not show why: rules may not have been evaluated, or a value changed between two windows."
    ),
    PreviewReason.OTHER_RULE: _("The preview differs from the saved rule in: %(names)s."),
    PreviewReason.RULE_CHANGED: _(
        "The saved rule was last changed at %(at)s: it may have been different before, or may not have existed."
    ),
    PreviewReason.RULE_DISABLED: _("The saved rule is disabled."),
    PreviewReason.OF_EXCLUDED: _("Of groups that the rule excludes: %(excluded_firings)s of the replay."),
    PreviewReason.OF_OTHERS: _(
        "Of subjects that are gone, or that the rule does not select today: %(other_incidents)s."
    ),
    PreviewReason.EVALUATED_LATE: _(
        "Evaluations were late for a time: data that contradicted the last states was not stored."
    ),
    PreviewReason.PARTLY_UNKNOWN: _("Some values in the range are unknown."),
    PreviewReason.SHORT_CONDITIONS: _("Conditions shorter than %(step_seconds)s are not visible here."),
    PreviewReason.INCIDENTS_EXPIRED: _("Incidents are retained for %(n_days)s."),
    PreviewReason.TOO_LONG: _(
        "It took longer than %(limit_seconds)s: choose a shorter range, or a rule of fewer groups."
    ),
    PreviewReason.CANCELLED: _("It was cancelled."),
}

INCIDENT_SENTENCES: dict[str, str | Promise] = {
    IncidentSentence.FIRING: _("%(where)s: %(what)s since %(since)s: %(evidence)s"),
    IncidentSentence.FIRING_UNKNOWN_GROUPS: _(
        "%(where)s: %(what)s since %(since)s: %(evidence)s; it leaves %(unknown_groups)s unknown"
    ),
    IncidentSentence.UNKNOWN: _("%(where)s: %(what)s became unknown and stays open: %(reason)s"),
    IncidentSentence.KNOWN: _("%(where)s: %(rule)s is known again: %(evidence)s"),
    IncidentSentence.RECOVERED: _("%(where)s: %(rule)s resolved after %(lasted_seconds)s: %(evidence)s"),
    IncidentSentence.GONE: _(
        "%(where)s: %(rule)s resolved after %(lasted_seconds)s: the subject no longer exists, or no rule selects it."
    ),
    IncidentSentence.RULE_ENDED: _(
        "%(where)s: %(rule)s resolved after %(lasted_seconds)s: the rule was removed or disabled, or no longer "
        "selects the subject."
    ),
    IncidentSentence.RULE_CHANGED: _("%(where)s: the rule was changed: %(changes)s."),
    IncidentSentence.SEVERITY_CHANGED: _("severity %(before)s → %(after)s"),
    IncidentSentence.THRESHOLD_CHANGED: _("threshold %(before)s → %(after)s"),
    IncidentSentence.STATES_CHANGED: _("states %(before)s → %(after)s"),
    IncidentSentence.SILENCED: _("%(where)s: silenced until %(until)s by %(by)s: %(reason)s"),
    IncidentSentence.UNSILENCED: _("%(where)s: the silence is over."),
    IncidentSentence.ACKNOWLEDGED: _("Acknowledged."),
    IncidentSentence.ACKNOWLEDGED_WITH: _("Acknowledged: %(comment)s"),
    IncidentSentence.UNACKNOWLEDGED: _("Acknowledgement withdrawn."),
    IncidentSentence.GROUP_ON_TOPIC: _("%(place)s on %(topic)s"),
}

DELIVERY_RESULTS: dict[str, str | Promise] = {
    DeliveryResult.ANSWERED: _("%(said)s"),
    DeliveryResult.REFUSED: _("refused (%(said)s)"),
    DeliveryResult.REDIRECTED: _("%(said)s: redirects are not followed: enter the address that it leads to"),
    DeliveryResult.ANSWERED_NO_TEXT: _("%(said)s: a response that is not text"),
    DeliveryResult.LATE: _("%(origin)s did not answer within %(limit)s s."),
    DeliveryResult.NO_ANSWER: _("%(origin)s did not answer: %(error)s."),
    DeliveryResult.NO_ADDRESS: _("%(host)s has no address."),
    DeliveryResult.NOT_RESOLVED: _("%(host)s has no address: %(error)s."),
    DeliveryResult.RESOLVED_LATE: _("The address of %(host)s was not found within %(limit)s s."),
    DeliveryResult.NOT_PUBLIC: _(
        "%(host)s is not a public address: name its network in CONSUMERSCOPE_ALERT_NETWORKS if channels may send there."
    ),
    DeliveryResult.LEADS_TO_NOT_PUBLIC: _(
        "%(host)s is %(address)s, which is not a public address: name its network in CONSUMERSCOPE_ALERT_NETWORKS if "
        "channels may send there."
    ),
    DeliveryResult.NO_MAIL_SERVER: _("No mail server is set: see CONSUMERSCOPE_EMAIL_URL."),
    DeliveryResult.MAIL_NOT_TAKEN: _("The mail server did not accept it: %(error)s."),
    DeliveryResult.MAIL_TAKEN: _("%(taken)s of %(of)s recipients accepted by the mail server."),
    DeliveryResult.RECIPIENT_REFUSED: _("%(recipient)s was refused: %(reply)s."),
    DeliveryResult.SERVICE_NOT_PUBLIC: _(
        "The service is at %(host)s, which is not a public address: name its network in CONSUMERSCOPE_ALERT_NETWORKS "
        "if channels may send there."
    ),
    DeliveryResult.SERVICE_LATE: _("The service did not answer within %(limit)s s."),
    DeliveryResult.SERVICE_LATE_PARTLY: _(
        "The service did not answer within %(limit)s s, and accepted %(taken)s of %(of)s changes."
    ),
    DeliveryResult.APPRISE_UNREADABLE: _("Apprise ended with exit code %(exit_code)s and no readable output."),
    DeliveryResult.APPRISE_SAID: _("%(lines)s"),
    DeliveryResult.APPRISE_SILENT: _("Apprise did not say why."),
    DeliveryResult.SERVICE_TOOK: _("The service took it."),
    DeliveryResult.TEMPLATE_FAILED: _("(%(error)s)"),
    DeliveryResult.FIRES_AGAIN: _("Nothing was sent: all that it ends fires again, under the same labels."),
    DeliveryResult.SETTINGS_UNREADABLE: _(
        "The address of %(channel)s was stored under another CONSUMERSCOPE_SECRET_KEY: enter it again, with its "
        "secrets, or set the old key."
    ),
    DeliveryResult.SITE_FAILED: _("Consumerscope failed: %(error)s."),
    DeliveryResult.GIVEN_UP: _("Not delivered within %(hours)s h: %(why)s"),
    DeliveryResult.SWITCHED_OFF: _("The channel was disabled before the message was sent."),
    DeliveryResult.WAS_OFF: _("The channel was disabled when the incident resolved."),
    DeliveryResult.FIRING_UNKNOWN: _("Nobody was notified of what resolved."),
    DeliveryResult.TEST_UNTAKEN: _(
        "No worker started the test in time: check that a worker for the queue alerts runs, then test again."
    ),
}

TEMPLATE_PROBLEMS: dict[str, str | Promise] = {
    TemplateProblem.TOO_LONG: _("A template may have at most %(longest)s characters, and no control characters."),
    TemplateProblem.NOT_UNDERSTOOD: _("Could not read the template: %(error)s."),
    TemplateProblem.NESTED_TOO_DEEP: _("Could not read the template: it is nested too deeply."),
    TemplateProblem.LOOPS_TOO_DEEP: _("A template may nest at most %(deepest)s loops."),
    TemplateProblem.TOO_MUCH: _(
        "The template produces too much text for a message, or takes too long: use smaller loops, and do not join "
        "texts with texts."
    ),
    TemplateProblem.NOT_FILLED: _("The template could not be filled: %(error)s."),
}

URL_PROBLEMS: dict[str, str | Promise] = {
    UrlProblem.CHARACTERS: _(
        "A URL may have at most %(longest)s ASCII characters, without spaces and backslashes: write other letters of a "
        "host as xn--…, and of a path as %%…."
    ),
    UrlProblem.NO_URL: _("This is not a URL: write https://host/path, with a port from 1 to 65535."),
    UrlProblem.SCHEME: _("A channel URL must begin with https:// or http://."),
    UrlProblem.USER: _("Leave user and password out of the URL: they have fields, or headers, of their own."),
    UrlProblem.FRAGMENT: _("A channel URL must not have a part after '#'."),
    UrlProblem.PORT: _("A port is a number from 1 to 65535; leave it out, with its colon, for the usual one."),
    UrlProblem.NO_IPV6: _("Write an IPv6 address between '[' and ']'."),
    UrlProblem.ZONE: _("An address with a zone belongs to one link of one machine: nothing is sent there."),
    UrlProblem.NO_IPV4: _("Write an IPv4 address as four decimal numbers without leading zeros: 192.0.2.1."),
    UrlProblem.NO_HOST: _("The URL names no host: write https://host/path."),
}

# Names and notes that built-in rules are made with, by their keys. Whoever changes one has chosen the language.
BUILT_IN_RULES = {
    "messages_lost": (
        gettext_noop("Messages lost"),
        gettext_noop("Brokers deleted messages that the group had not consumed. Nothing brings them back."),
    ),
    "stopped": (
        gettext_noop("Stopped"),
        gettext_noop("Messages wait, and the group has no member. Start one, or find out why all of them left."),
    ),
    "stalled": (
        gettext_noop("Stalled"),
        gettext_noop(
            "Messages wait, members are there, and an offset does not move. The group's page says which queue, and why."
        ),
    ),
    "falling_behind": (
        gettext_noop("Falling behind"),
        gettext_noop("Less is consumed than is produced, and the time lag rises."),
    ),
    "went_back": (
        gettext_noop("Offset went back"),
        gettext_noop("Messages are consumed again, and nobody reset the group here."),
    ),
    "created_anew": (
        gettext_noop("Topic recreated"),
        gettext_noop("Committed offsets belong to messages that are gone: compare them with the queue's ends."),
    ),
    "expires_within_hours": (
        gettext_noop("Expires within 4 hours"),
        gettext_noop(
            "Brokers may soon delete what the group has not consumed: consume it, or keep messages for longer."
        ),
    ),
    "expires_within_a_day": (
        gettext_noop("Expires within a day"),
        gettext_noop("Brokers may delete tomorrow what the group has not consumed."),
    ),
    "expires_unconsumed": (
        gettext_noop("Expires unconsumed within 2 days"),
        gettext_noop(
            "As the time lag rises now, brokers will delete messages before the group consumes them: let it"
            " consume faster, or keep messages for longer."
        ),
    ),
    "dead_letters": (
        gettext_noop("Dead letters"),
        gettext_noop("Messages used up their retries. The group's page lists them."),
    ),
    "many_retries": (
        gettext_noop("Many retries"),
        gettext_noop("More than one redelivery for ten messages consumed, over the last hour."),
    ),
    "rebalancing": (
        gettext_noop("Frequent rebalances"),
        gettext_noop(
            "Members come and go: while they share queues anew, some are consumed by nobody and some messages twice."
        ),
    ),
    "doubly_owned": (
        gettext_noop("Queues with two owners"),
        gettext_noop("Their messages are consumed twice. The group's Ownership tab says why."),
    ),
    "not_known": (
        gettext_noop("State unknown"),
        gettext_noop("Its brokers are scraped, but its state is unknown. The reason is shown with it."),
    ),
    "broker_unread": (
        gettext_noop("Broker not scraped"),
        gettext_noop("Its queues are unknown: it is down, or does not answer Consumerscope."),
    ),
    "name_server_unread": (
        gettext_noop("No name server"),
        gettext_noop("Known brokers are still scraped; one that moves or joins is not found."),
    ),
    "not_polled": (
        gettext_noop("Scrapes stopped"),
        gettext_noop("The poll worker is behind or not running: no lag that is shown is current."),
    ),
    "not_judged": (
        gettext_noop("Evaluation stale"),
        gettext_noop("The pipeline is behind or not running: states and time lags are not current."),
    ),
    "time_lag": (
        gettext_noop("Time lag above 10 minutes"),
        gettext_noop("Oldest message waits for more than ten minutes."),
    ),
    "lag_messages": (
        gettext_noop("Lag above 100,000 messages"),
        gettext_noop("How long they wait depends on the topic: use a rule on time lag."),
    ),
    "drains_slowly": (gettext_noop("Drains for more than 4 hours"), gettext_noop("It catches up, but slowly.")),
    "expired": (
        gettext_noop("Messages expired"),
        gettext_noop("Messages below the min offset were not consumed."),
    ),
    "unowned": (
        gettext_noop("Queues without an owner"),
        gettext_noop("No member consumes them. The group's Ownership tab says why."),
    ),
    "blocked": (
        gettext_noop("Message stuck"),
        gettext_noop("A member has held the same oldest message for more than ten minutes."),
    ),
    "no_members": (gettext_noop("No members"), gettext_noop("The group has no member, whether messages wait or not.")),
    "unsettled": (
        gettext_noop("Group not stabilising"),
        gettext_noop(
            "Members go on starting and stopping with less than a minute between two: a crash loop, mostly."
            " While they do, queues are shared anew again and again."
            " The group's rebalances say which members come and go."
        ),
    ),
    "offsets_lost": (
        gettext_noop("Offsets lost"),
        gettext_noop(
            "Committed offsets that were read before are gone from the broker: its file was lost, or a slave"
            " without them took over. Members that start now begin where ConsumeFromWhere says."
            " Reset each group to its past position before."
        ),
    ),
    "findings_critical": (
        gettext_noop("Messages discarded or client ids duplicate"),
        gettext_noop(
            "Brokers discard failed messages, or processes share a client id."
            " The group's page says which, and what to do."
        ),
    ),
    "findings": (
        gettext_noop("Findings"),
        gettext_noop("A check found something wrong. The Findings page says what, since when, and what to do."),
    ),
}
BUILT_IN_NAMES = tuple(name for name, _note in BUILT_IN_RULES.values())
BUILT_IN_NOTES = tuple(note for _name, note in BUILT_IN_RULES.values())


def rule_name_words(name: str) -> str:
    """A rule's name as pages show it. REST, notifications and filters have it as it is stored."""
    return gettext(name) if name in BUILT_IN_NAMES else name


def rule_note_words(note: str) -> str:
    return gettext(note) if note in BUILT_IN_NOTES else note


def stored_rule_text(text: str, built_in: tuple[str, ...]) -> str:
    """What is stored for a name or a note that a form shows in the reader's language."""
    return next((stored for stored in built_in if gettext(stored) == text), text)
