"""What messages say where nobody wrote a template: plain text that is read on a telephone first."""

TITLE = (
    "{% if is_test %}[TEST] {% endif %}"
    "{% if firing %}FIRING{% if firing > 1 %} {{ firing }}{% endif %}{% endif %}"
    "{% if firing and resolved %}, {% endif %}"
    "{% if resolved %}RESOLVED{% if resolved > 1 %} {{ resolved }}{% endif %}{% endif %}"
    " · {{ rule.name }}: {{ events.0.incident.subject.title }}"
    "{% if count > 1 %} and {{ count_less_one }} more{% endif %}"
)

BODY = """\
{% for event in events %}\
{% if event.kind == "resolved" %}RESOLVED{% else %}FIRING{% endif %} · {{ event.incident.severity }} · \
{{ event.incident.subject.title }}\
{% if event.incident.subject.cluster and event.incident.subject.cluster != event.incident.subject.title %}\
 in {{ event.incident.subject.cluster }}{% endif %}
{{ event.sentence }}
{% if event.incident.groups_count %}\
Groups that it leaves unknown: {{ event.incident.groups_count }}
{% endif %}\
{% if event.incident.unknown_reason %}\
Its value is not known at the moment: {{ event.incident.unknown_reason }}
{% endif %}\
Since {{ event.incident.started_at|date:"Y-m-d H:i:s" }} UTC\
{% if event.incident.resolved_at %}, until {{ event.incident.resolved_at|date:"Y-m-d H:i:s" }} UTC{% endif %}
{% if event.incident.owner %}Owner: {{ event.incident.owner }}
{% endif %}\
{% if event.incident.note %}Note: {{ event.incident.note }}
{% endif %}\
{% if event.incident.runbook_url %}Runbook: {{ event.incident.runbook_url }}
{% endif %}\
{% if event.incident.url %}{{ event.incident.url }}
{% endif %}
{% endfor %}\
{% if others %}And {{ others }} more, which are not named here.
{% endif %}\
{% if rule.note %}{{ rule.note }}
{% endif %}\
{% if rule.runbook_url %}Runbook of the rule: {{ rule.runbook_url }}
{% endif %}"""
