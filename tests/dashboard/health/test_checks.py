"""What a check of the database warns of."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tests.world import a_cluster

pytestmark = pytest.mark.django_db


def warned(*said: str) -> str:
    err = StringIO()
    call_command("check", *said, stdout=StringIO(), stderr=err)
    return err.getvalue()


def test_a_read_only_name_that_no_cluster_bears_is_warned_of(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod", "pord", "*"]
    a_cluster()
    said = warned("--database", "default")
    assert "names 'pord', and no registered cluster has that name or address" in said
    assert said.count("consumerscope.W001") == 1


def test_names_of_clusters_are_fine(settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_cluster()
    assert "consumerscope" not in warned("--database", "default")


def test_a_role_of_the_sign_on_for_no_registered_cluster_is_warned_of(settings: Any) -> None:
    settings.CONSUMERSCOPE_OIDC_ROLES = {"dev": {("operator", "prod"), ("operator", "pord"), ("viewer", "")}}
    a_cluster()
    said = warned("--database", "default")
    assert "names the cluster 'pord', which is not registered" in said
    assert said.count("consumerscope.W002") == 1


def test_a_check_without_the_database_does_not_ask_it(settings: Any, django_assert_num_queries: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["pord"]
    with django_assert_num_queries(0):
        assert "consumerscope" not in warned()
