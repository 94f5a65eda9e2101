from django.apps import AppConfig


class ConsumersConfig(AppConfig):
    name = "consumers"
    verbose_name = "Consumers"
    default_auto_field = "django.db.models.BigAutoField"
