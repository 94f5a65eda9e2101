from django.apps import AppConfig
from django.core.checks import Tags, register


class DashboardConfig(AppConfig):
    name = "dashboard"
    verbose_name = "Dashboard"

    def ready(self) -> None:
        # It needs the models, which are there from here on.
        from .health import clusters_of_sign_on, private_home, read_only_clusters

        register(private_home, Tags.security)
        register(read_only_clusters, Tags.database)
        register(clusters_of_sign_on, Tags.database)
