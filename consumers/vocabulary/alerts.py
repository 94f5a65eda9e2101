"""What rules see of a subject, and what happens to an incident: stored as a code with its values."""

from enum import StrEnum


class AlertEvidence(StrEnum):
    """The value of a measure, why it is unknown, or why rules exclude the subject."""

    # Several, one beside the other.
    PARTS = "evidence_parts"  # parts
    # Of a group's state, and of a finding: worded by what pages say of them.
    STATE = "evidence_state"  # state, rule, detail, place, as_of
    STATE_REASON = "evidence_state_reason"  # rule, detail
    FINDING = "evidence_finding"  # finding, params, group, broker
    # Of numbers of a group.
    LAG = "evidence_lag"  # lag_messages
    OLDEST_WAITS = "evidence_oldest_waits"  # waited_seconds
    DRAINS_IN = "evidence_drains_in"  # drain_seconds
    EXPIRED = "evidence_expired"  # expired_messages
    EXPIRES_IN = "evidence_expires_in"  # left_seconds
    EXPIRED_MAYBE = "evidence_expired_maybe"
    EXPIRES_UNCONSUMED = "evidence_expires_unconsumed"  # left_seconds
    TIME_LAG_AT_LEAST = "evidence_time_lag_at_least"
    EXPIRES_UNCONSUMED_AT_MOST = "evidence_expires_unconsumed_at_most"  # left_seconds
    RETRY_SHARE = "evidence_retry_share"  # share
    MEMBERS = "evidence_members"  # present_members
    NO_MEMBER = "evidence_no_member"
    DLQ_INFLOW = "evidence_dlq_inflow"  # dead_messages, end
    REBALANCES = "evidence_rebalances"  # rebalance_episodes
    REPEATS = "evidence_repeats"  # found_repeats
    REDELIVERED = "evidence_redelivered"  # least_messages
    STABLE = "evidence_stable"
    CHANGING = "evidence_changing"  # changing_seconds
    NOTHING_HELD = "evidence_nothing_held"
    HELD = "evidence_held"  # client, place, held_seconds
    UNOWNED = "evidence_unowned"  # unowned_queues
    DOUBLY_OWNED = "evidence_doubly_owned"  # shared_queues
    NO_FINDINGS = "evidence_no_findings"
    MORE_FINDINGS = "evidence_more_findings"  # other_findings
    ALL_KNOWN = "evidence_all_known"
    STATE_UNKNOWN = "evidence_state_unknown"  # unknown_seconds, why
    LAG_UNKNOWN = "evidence_lag_unknown"  # unknown_seconds, why
    # Of brokers, clusters and the site.
    NO_LOSS = "evidence_no_loss"
    LOSS = "evidence_loss"  # broker, losing_groups, lost_queues
    LAST_READ = "evidence_last_read"  # at
    SLAVE_READ = "evidence_slave_read"  # slave
    LOST_REPORTED = "evidence_lost_reported"  # lost_queues
    SCRAPED = "evidence_scraped"  # age_seconds
    LAST_SCRAPED = "evidence_last_scraped"  # age_seconds
    NEVER_SCRAPED = "evidence_never_scraped"  # age_seconds
    BROKER_NEVER_SCRAPED = "evidence_broker_never_scraped"  # reason, age_seconds
    BROKER_LAST_SCRAPED = "evidence_broker_last_scraped"  # reason, age_seconds
    BROKERS_LISTED = "evidence_brokers_listed"  # age_seconds
    BROKERS_LAST_LISTED = "evidence_brokers_last_listed"  # error, age_seconds
    SITE_SCRAPED = "evidence_site_scraped"  # age_seconds
    SITE_NEVER_SCRAPED = "evidence_site_never_scraped"  # age_seconds
    SITE_EVALUATED = "evidence_site_evaluated"  # age_seconds
    SITE_NEVER_EVALUATED = "evidence_site_never_evaluated"  # age_seconds
    NOTHING_TO_SCRAPE = "evidence_nothing_to_scrape"
    NOTHING_TO_EVALUATE = "evidence_nothing_to_evaluate"
    # Why a value is unknown.
    NOTHING_SCRAPED = "evidence_nothing_scraped"
    CLUSTER_REMOVED = "evidence_cluster_removed"
    NAME_SERVERS_NOT_ASKED = "evidence_name_servers_not_asked"
    NO_BROKER_OF = "evidence_no_broker_of"  # cluster
    BROKER_NOT_READ = "evidence_broker_not_read"  # broker
    NOT_EVALUATED_SINCE = "evidence_not_evaluated_since"  # since
    NOT_IN_RANGE = "evidence_not_in_range"
    NOT_DRAINING = "evidence_not_draining"
    MIN_OFFSET_UNREAD = "evidence_min_offset_unread"
    RETENTION_UNKNOWN = "evidence_retention_unknown"
    VOLUME = "evidence_volume"  # volume_reason
    INFLOW_INCOMPLETE = "evidence_inflow_incomplete"
    POP_WITHOUT_OWNERS = "evidence_pop_without_owners"
    PULL_WITHOUT_OWNERS = "evidence_pull_without_owners"
    HELD_UNREPORTED = "evidence_held_unreported"  # client
    OWNED_UNREPORTED = "evidence_owned_unreported"  # client
    OWNED_UNREPORTED_SHARED = "evidence_owned_unreported_shared"
    MEMBERS_NOT_SINCE = "evidence_members_not_since"  # since
    PARTLY_WATCHED = "evidence_partly_watched"  # begin, end
    SETTLING = "evidence_settling"
    NOT_CHECKED = "evidence_not_checked"
    # Why rules exclude the subject.
    PAUSED = "excluded_paused"
    OFFLINE_USUAL = "excluded_offline_usual"
    OFFLINE_BY_HABIT = "excluded_offline_by_habit"  # percent, days
    PULLS = "excluded_pulls"
    BROADCASTING = "excluded_broadcasting"
    EVERY_OWNER = "excluded_every_owner"
    ROLLOUT = "excluded_rollout"


class PreviewReason(StrEnum):
    """Why a preview does not know something, or differs from what evaluations found."""

    NO_SUBJECT = "preview_no_subject"
    NO_DATA = "preview_no_data"
    NO_SAVED_RULE = "preview_no_saved_rule"
    STILL_FIRING = "preview_still_firing"
    STATES_COMPARED = "preview_states_compared"
    NOT_RESOLVED = "preview_not_resolved"
    NOT_STORED = "preview_not_stored"
    OTHER_RULE = "preview_other_rule"  # names
    RULE_CHANGED = "preview_rule_changed"  # at
    RULE_DISABLED = "preview_rule_disabled"
    OF_EXCLUDED = "preview_of_excluded"  # excluded_firings
    OF_OTHERS = "preview_of_others"  # other_incidents
    EVALUATED_LATE = "preview_evaluated_late"
    PARTLY_UNKNOWN = "preview_partly_unknown"
    SHORT_CONDITIONS = "preview_short_conditions"  # step_seconds
    INCIDENTS_EXPIRED = "preview_incidents_expired"  # days
    TOO_LONG = "preview_too_long"  # limit_seconds
    CANCELLED = "preview_cancelled"


class IncidentSentence(StrEnum):
    """What happened to an incident. `where` names its subject, `what` its state or rule there."""

    FIRING = "incident_firing"  # where, what, since, evidence
    FIRING_UNKNOWN_GROUPS = "incident_firing_unknown_groups"  # where, what, since, evidence, unknown_groups
    UNKNOWN = "incident_unknown"  # where, what, reason
    KNOWN = "incident_known"  # where, rule, evidence
    RECOVERED = "incident_recovered"  # where, rule, lasted_seconds, evidence
    GONE = "incident_gone"  # where, rule, lasted_seconds
    RULE_ENDED = "incident_rule_ended"  # where, rule, lasted_seconds
    RULE_CHANGED = "incident_rule_changed"  # where, changes
    SEVERITY_CHANGED = "incident_severity_changed"  # before, after
    THRESHOLD_CHANGED = "incident_threshold_changed"  # before, after
    STATES_CHANGED = "incident_states_changed"  # before, after
    SILENCED = "incident_silenced"  # where, until, by, reason
    UNSILENCED = "incident_unsilenced"  # where
    ACKNOWLEDGED = "incident_acknowledged"
    ACKNOWLEDGED_WITH = "incident_acknowledged_with"  # comment
    UNACKNOWLEDGED = "incident_unacknowledged"
    # A place in these sentences.
    GROUP_ON_TOPIC = "incident_group_on_topic"  # place, topic


class DeliveryResult(StrEnum):
    """What became of a try to send a notification, or why there was none. What a receiver or the system said is in
    their words: `error`, `said`, `reply`, `lines`.
    """

    # Of an exchange over HTTP.
    ANSWERED = "delivery_answered"  # said
    REFUSED = "delivery_refused"  # said
    REDIRECTED = "delivery_redirected"  # said
    ANSWERED_NO_TEXT = "delivery_answered_no_text"  # said
    LATE = "delivery_late"  # origin, limit
    NO_ANSWER = "delivery_no_answer"  # origin, error
    NO_ADDRESS = "delivery_no_address"  # host
    NOT_RESOLVED = "delivery_not_resolved"  # host, error
    RESOLVED_LATE = "delivery_resolved_late"  # host, limit
    NOT_PUBLIC = "delivery_not_public"  # host
    LEADS_TO_NOT_PUBLIC = "delivery_leads_to_not_public"  # host, address
    # Of mail.
    NO_MAIL_SERVER = "delivery_no_mail_server"
    MAIL_NOT_TAKEN = "delivery_mail_not_taken"  # error
    MAIL_TAKEN = "delivery_mail_taken"  # taken, of
    RECIPIENT_REFUSED = "delivery_recipient_refused"  # recipient, reply
    # Of a service through Apprise.
    SERVICE_NOT_PUBLIC = "delivery_service_not_public"  # host
    SERVICE_LATE = "delivery_service_late"  # limit
    SERVICE_LATE_PARTLY = "delivery_service_late_partly"  # limit, taken, of
    APPRISE_UNREADABLE = "delivery_apprise_unreadable"  # exit_code
    APPRISE_SAID = "delivery_apprise_said"  # lines
    APPRISE_SILENT = "delivery_apprise_silent"
    SERVICE_TOOK = "delivery_service_took"
    # Of any kind.
    TEMPLATE_FAILED = "delivery_template_failed"  # error
    FIRES_AGAIN = "delivery_fires_again"
    SETTINGS_UNREADABLE = "delivery_settings_unreadable"  # channel
    SITE_FAILED = "delivery_site_failed"  # error
    # Of a message that is not sent any more.
    GIVEN_UP = "delivery_given_up"  # hours, why
    SWITCHED_OFF = "delivery_switched_off"
    WAS_OFF = "delivery_was_off"
    FIRING_UNKNOWN = "delivery_firing_unknown"
    TEST_UNTAKEN = "delivery_test_untaken"


class TemplateProblem(StrEnum):
    """Why a template of a title or a body is not taken, or was not used. `error` is in the words of Django."""

    TOO_LONG = "template_too_long"  # longest
    NOT_UNDERSTOOD = "template_not_understood"  # error
    NESTED_TOO_DEEP = "template_nested_too_deep"
    LOOPS_TOO_DEEP = "template_loops_too_deep"  # deepest
    TOO_MUCH = "template_too_much"
    NOT_FILLED = "template_not_filled"  # error


class UrlProblem(StrEnum):
    """Why a text is no URL that a channel sends to."""

    CHARACTERS = "url_characters"  # longest
    NO_URL = "url_no_url"
    SCHEME = "url_scheme"
    USER = "url_user"
    FRAGMENT = "url_fragment"
    PORT = "url_port"
    NO_IPV6 = "url_no_ipv6"
    ZONE = "url_zone"
    NO_IPV4 = "url_no_ipv4"
    NO_HOST = "url_no_host"
