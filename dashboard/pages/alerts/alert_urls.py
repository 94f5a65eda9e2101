"""Addresses of the pages of alerts."""

from django.urls import path

from dashboard.pages.channels import channels
from dashboard.pages.silences import silences

from . import alert_notes, alerts, incident

INCIDENT = "alerts/incidents/<uuid:incident>/"
CHANNEL = "alerts/channels/<int:channel>/"
NOTE = "alerts/notes/<int:note>/"

urlpatterns = [
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/part/", alerts.alerts_part, name="alerts_part"),
    path(INCIDENT, incident.incident, name="incident"),
    path(f"{INCIDENT}part/", incident.incident_part, name="incident_part"),
    path(f"{INCIDENT}acknowledge/", incident.incident_acknowledge, name="incident_acknowledge"),
    path("figures/incidents/<uuid:incident>/", incident.incident_figure, name="incident_figure"),
    path("alerts/silences/", silences.silences, name="silences"),
    path("alerts/silences/<int:silence>/end/", silences.silence_end, name="silence_end"),
    path("alerts/channels/", channels.channels, name="channels"),
    path("alerts/channels/add/", channels.channel_add, name="channel_add"),
    path(CHANNEL, channels.channel, name="channel"),
    path(f"{CHANNEL}part/", channels.channel_part, name="channel_part"),
    path(f"{CHANNEL}test/", channels.channel_test, name="channel_test"),
    path(f"{CHANNEL}remove/", channels.channel_remove, name="channel_remove"),
    path("alerts/notes/", alert_notes.alert_notes, name="alert_notes"),
    path("alerts/notes/add/", alert_notes.alert_note_add, name="alert_note_add"),
    path(NOTE, alert_notes.alert_note, name="alert_note"),
    path(f"{NOTE}remove/", alert_notes.alert_note_remove, name="alert_note_remove"),
]
