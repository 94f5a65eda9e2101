"""What workers report, in words: the evidence of rules and what happens to incidents; why a job has no answer, what
helps a connection that failed, and what reading back an offset found.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.alerts import AlertEvidence, IncidentSentence
from consumers.vocabulary.reasons import AnswerProblem, ConnectionCure
from consumers.vocabulary.resets import ReadBackEvidence

ANSWER_PROBLEMS: dict[str, str | Promise] = {
    AnswerProblem.WORKER_FAILED: _("The worker failed. See its log for the cause."),
    AnswerProblem.WORKER_SILENT: _("The general worker did not answer within %(n)s s. Check that it is running."),
    AnswerProblem.BODIES_NOT_PERMITTED: _(
        "Message bodies need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.DUMPS_NOT_PERMITTED: _(
        "Thread dumps need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.CHECKS_NOT_PERMITTED: _(
        "Connection tests need the permission %(permission)s, which the requesting user no longer has."
    ),
    AnswerProblem.CLUSTER_GONE: _("There is no cluster %(cluster)s."),
    AnswerProblem.CONNECTION_UNTESTED: _("The connection could not be tested: %(error)s"),
    AnswerProblem.GROUP_GONE: _("There is no group %(group)s in cluster %(cluster)s."),
    AnswerProblem.NO_BROKER: _("No master of the cluster is known yet."),
    AnswerProblem.NO_MASTER: _("No master of %(broker)s is known. It may have left the cluster."),
    AnswerProblem.BROKERS_UNREACHABLE: _("The brokers could not be asked: %(error)s"),
    AnswerProblem.NO_OFFSET_IN_TOPIC: _("The group has no offset in %(topic)s."),
    AnswerProblem.MESSAGE_NOT_FETCHED: _("The message could not be fetched from %(broker)s: %(error)s"),
    AnswerProblem.QUEUE_EMPTY: _(
        "There is no message at offset %(offset)s. The queue is empty: all messages have expired."
    ),
    AnswerProblem.OUTSIDE_QUEUE: _(
        "There is no message at offset %(offset)s. The queue holds offsets %(first)s to %(last)s; older messages have "
        "expired."
    ),
    AnswerProblem.NOT_RETURNED: _("The broker returned no message at offset %(offset)s: %(outcome)s."),
    AnswerProblem.CLIENT_GONE: _("No broker lists the client now."),
    AnswerProblem.THREADS_UNREAD: _("The client's threads could not be read: %(error)s"),
    AnswerProblem.NO_THREADS: _("The client reported no threads. Only Java clients do."),
    AnswerProblem.DUMP_RUNNING: _("Another thread dump of this client is being taken. Try again in a few seconds."),
}

CONNECTION_CURES: dict[ConnectionCure, str | Promise] = {
    ConnectionCure.ADDRESS: _(
        "Check the address and its port, and that the process runs there. Brokers announce the address of brokerIP1: "
        "it must be reachable from the workers."
    ),
    ConnectionCure.FIREWALL: _("Check firewalls and routes between the workers and this address."),
    ConnectionCure.TLS: _("It closed the connection. If it requires TLS, register the cluster with TLS."),
    ConnectionCure.CERTIFICATE: _(
        "Register the authority that signed this certificate as the TLS authorities, or a name that it contains."
    ),
    ConnectionCure.KEYS: _("The cluster uses access control: register its access key and secret key."),
    ConnectionCure.PERMISSION: _("Allow this call for the access key in the cluster's access control."),
    ConnectionCure.VERSION: _("The broker refuses this call: its version may not know it."),
    ConnectionCure.NOT_ROCKETMQ: _("What answers here is not RocketMQ's remoting protocol: check the port."),
}

# After a reset.
READ_BACK_EVIDENCE: dict[str, str | Promise] = {
    ReadBackEvidence.READ_ONCE: _("Set to %(target)s; read once: %(path)s."),
    ReadBackEvidence.READ_TIMES: _("Set to %(target)s; read %(times)s times over %(seconds)s s: %(path)s."),
    ReadBackEvidence.OFFSET_AFTER: _("%(offset)s after %(seconds)s s"),
    ReadBackEvidence.NO_COMMIT_AFTER: _("no commit after %(seconds)s s"),
    ReadBackEvidence.NEVER_READ: _("Could not be read for %(seconds)s s: %(error)s."),
    ReadBackEvidence.NOBODY_ASKED: _("nobody asked for it"),
    ReadBackEvidence.NO_MASTER_SEEN: _("no poll has found a master of %(broker)s"),
    ReadBackEvidence.UNREADABLE_BACK: _("it could not be read back: %(why)s"),
    ReadBackEvidence.UNREADABLE_SINCE: _("After that it could not be read: %(error)s."),
    ReadBackEvidence.READ_AGAIN: _("It was unreadable for a while, and a restarted broker has forgotten the reset."),
    ReadBackEvidence.PRESENT_UNKNOWN: _("The members of the group are unknown: %(error)s."),
    ReadBackEvidence.NO_MEMBERS_ASKED: _("nobody was asked"),
    ReadBackEvidence.COMMITS_TOO_SELDOM: _("Members commit only every %(seconds)s s, too seldom to tell."),
    ReadBackEvidence.MEMBERS_REPLACED: _(
        "Members left meanwhile, and those that joined may have started at either offset."
    ),
    ReadBackEvidence.EITHER_WAY: _("Either a member started at the target, or another offset was committed over it."),
    ReadBackEvidence.STOOD_AT_TARGET: _("It was at its target already."),
    ReadBackEvidence.CAME_TO_TARGET: _("It reached its target without a write."),
    ReadBackEvidence.STOOD_COMMIT_GONE: _("It was at its target already; it has no committed offset any more."),
    ReadBackEvidence.CAME_COMMIT_GONE: _("It reached its target without a write; it has no committed offset any more."),
    ReadBackEvidence.STOOD_WENT_BACK: _("It was at its target already; it went back since."),
    ReadBackEvidence.CAME_WENT_BACK: _("It reached its target without a write; it went back since."),
    ReadBackEvidence.OFFSETS_DELETED: _(
        "Its committed offset is gone: the group's offsets were deleted, or the broker lost them."
    ),
    ReadBackEvidence.NO_COMMIT_AS_BEFORE: _("It has no committed offset, as before."),
    ReadBackEvidence.NOBODY_CONNECTED: _("Nobody is connected."),
    ReadBackEvidence.STANDS_AS_BEFORE: _("It is where it was, and nobody is connected."),
    ReadBackEvidence.BROKER_FORGOT: _("Its broker restarted and lost offsets that it had not yet flushed to disk."),
    ReadBackEvidence.NO_MEMBER_COMMITTED: _("No member was connected meanwhile: something else committed it."),
    ReadBackEvidence.TOLD_MEMBER_STANDS: _("A notified member is there."),
    ReadBackEvidence.STANDS_LONG_ENOUGH: _(
        "That is longer than a pull and the commit after it take. A member with a full cache starts there at its "
        "next pull."
    ),
    ReadBackEvidence.PASSED_BETWEEN: _(
        "Only a member that started at %(target)s reports offsets between it and %(before)s."
    ),
    ReadBackEvidence.TOLD_MEMBER_COMMITTED: _("A notified member had committed the target."),
    ReadBackEvidence.BEGAN_STORED: _("The members connected after the offset was set, and started at it."),
    ReadBackEvidence.COMMITS_MEAN_TOLD: _(
        "The broker accepts a commit only after a member was notified of the target."
    ),
    ReadBackEvidence.MEMBER_COMMITTED_OVER: _("%(member)s, connected since before, committed over it."),
    ReadBackEvidence.SOMEBODY_COMMITTED_OVER: _("Somebody committed over it."),
    ReadBackEvidence.TARGET_NOT_TAKEN: _("It continues from where it was: the target was not taken."),
    ReadBackEvidence.OR_ONE_OF_MORE: _("%(first)s or one of %(n)s more"),
}


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
    AlertEvidence.RETRY_SHARE: _("%(share)s redeliveries for each message consumed, over the last hour"),
    AlertEvidence.MEMBERS: _("%(present_members)s"),
    AlertEvidence.NO_MEMBER: _("no member"),
    AlertEvidence.DLQ_INFLOW: _("DLQ inflow of %(dead_messages)s in the 5 minutes until %(end)s UTC"),
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
    AlertEvidence.LAST_READ: _("last read %(at)s UTC"),
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
    AlertEvidence.SETTLING: _("settling: two complete scrapes in a row must agree on the owners"),
    AlertEvidence.NOT_CHECKED: _("not checked of late: the general worker lags or does not run"),
    AlertEvidence.PAUSED: _("paused by configuration: consumeEnable is false"),
    AlertEvidence.OFFLINE_USUAL: _("offline by habit, and its time lag is within its usual maximum"),
    AlertEvidence.OFFLINE_BY_HABIT: _("offline by habit: without a member for %(share)s of the last %(days)s days"),
    AlertEvidence.PULLS: _("pull consumers: brokers list them only while they pull"),
    AlertEvidence.BROADCASTING: _("broadcasting: each member consumes all queues"),
    AlertEvidence.EVERY_OWNER: _("broadcasting: every member owns every queue"),
    AlertEvidence.ROLLOUT: _("rollout: each member restarts once"),
}

INCIDENT_SENTENCES: dict[str, str | Promise] = {
    IncidentSentence.FIRING: _("%(where)s: %(what)s since %(since)s UTC: %(evidence)s"),
    IncidentSentence.FIRING_UNKNOWN_GROUPS: _(
        "%(where)s: %(what)s since %(since)s UTC: %(evidence)s; it leaves %(unknown_groups)s unknown"
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
    IncidentSentence.SILENCED: _("%(where)s: silenced until %(until)s UTC by %(by)s: %(reason)s"),
    IncidentSentence.UNSILENCED: _("%(where)s: the silence is over."),
    IncidentSentence.ACKNOWLEDGED: _("Acknowledged."),
    IncidentSentence.ACKNOWLEDGED_WITH: _("Acknowledged: %(comment)s"),
    IncidentSentence.UNACKNOWLEDGED: _("Acknowledgement withdrawn."),
    IncidentSentence.GROUP_ON_TOPIC: _("%(place)s on %(topic)s"),
}
