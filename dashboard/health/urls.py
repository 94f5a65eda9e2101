from django.urls import path

from .views import live, ready

urlpatterns = [
    path("healthz", live, name="healthz"),
    path("readyz", ready, name="readyz"),
]
