"""The admin pages show everything and change only clusters and tokens."""

import json

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.utils import translation

from consumers.admin.names import NAMES
from consumers.models import ApiToken, Cluster, ConsumerGroup, GroupState
from consumers.words.columns import COLUMN_NAMES
from dashboard.admin_pages import ADMINISTERED
from tests.consumers.admin.staff import a_staff_client
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total

pytestmark = pytest.mark.django_db
MODELS = [model for model in admin.site._registry if model._meta.app_label == "consumers"]


@pytest.fixture
def world():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 1, 2)
    a_total(group, 1)
    a_judged_group(group)
    return cluster


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_admin_sees_the_list_of_every_model(world, model):
    client = a_staff_client("admin")
    assert client.get(f"/admin/consumers/{model._meta.model_name}/").status_code == 200


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_has_a_name_in_chinese(model):
    fields = (*model._meta.fields, *model._meta.many_to_many)
    names = {field.name.replace("_", " "): field.verbose_name for field in fields}
    with translation.override("zh-hans"):
        same = {name for name, words in names.items() if str(words).lower() == name}
    assert same <= {"id", "topic", "broker", "broker id", "tls", "proxy"}


def test_a_column_whose_own_name_is_a_riddle_has_another() -> None:
    names = {name: ConsumerGroup._meta.get_field(name).verbose_name for name in ("sub_version", "moved_at", "online")}
    assert {name: str(words) for name, words in names.items()} == {
        "sub_version": "last change by client clock",
        "moved_at": "last consumed at",
        "online": "online",
    }


def test_columns_with_names_of_their_own_are_there() -> None:
    columns = {field.name for model in MODELS for field in model._meta.fields}
    assert {name.rpartition(".")[2] for name in COLUMN_NAMES} <= columns


def test_what_a_row_does_not_hold_is_said_and_no_dash(world) -> None:
    path = f"/admin/consumers/consumergroup/{ConsumerGroup.objects.get().pk}/change/"
    page = a_staff_client("viewer").get(path).text
    assert "no value" in page
    assert '<div class="readonly">-</div>' not in page


def test_every_model_has_a_page():
    from django.apps import apps

    assert set(MODELS) == set(apps.get_app_config("consumers").get_models())


def test_every_model_has_a_name_in_both_languages():
    assert not set(MODELS) - set(NAMES)
    with translation.override("zh-hans"):
        unnamed = [model.__name__ for model in MODELS if str(model._meta.verbose_name).islower()]
    assert not unnamed


def test_the_groups_of_a_user_are_no_consumer_groups_in_chinese():
    client = a_staff_client("admin")
    User.objects.filter(username="admin").update(is_superuser=True)
    path = f"/admin/auth/user/{User.objects.get().pk}/change/"
    page = client.get(path, headers={"Accept-Language": "zh-hans"}).content.decode()
    label = page.split('for="id_groups"')[1].split("</label>")[0]
    assert label.endswith(("组:", "组："))
    assert "消费" not in label


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_viewer_changes_nothing(world, model):
    client = a_staff_client("viewer")
    assert client.get(f"/admin/consumers/{model._meta.model_name}/add/").status_code == 403


def test_an_admin_adds_a_cluster_and_points_it_elsewhere(world):
    client = a_staff_client("admin")
    client.post("/admin/consumers/cluster/add/", {"name": "other", "namesrv": "10.0.0.1:9876; 10.0.0.2:9876"})
    cluster = Cluster.objects.get(name="other")
    assert cluster.namesrv == "10.0.0.1:9876;10.0.0.2:9876"

    client.post(f"/admin/consumers/cluster/{cluster.pk}/change/", {"name": "renamed", "namesrv": "10.0.0.3:9876"})
    cluster.refresh_from_db()
    assert (cluster.name, cluster.namesrv) == ("other", "10.0.0.3:9876")


@pytest.mark.parametrize(("name", "namesrv"), [("a/b", "10.0.0.1:9876"), ("other", "10.0.0.1"), ("other", ";")])
def test_it_adds_no_cluster_that_could_not_be_read(world, name, namesrv):
    client = a_staff_client("admin")
    answer = client.post("/admin/consumers/cluster/add/", {"name": name, "namesrv": namesrv})
    assert (answer.status_code, Cluster.objects.count()) == (200, 1)


def test_a_token_is_withdrawn_and_its_digest_never_shown(world):
    client = a_staff_client("admin")
    user = User.objects.get(username="admin")
    token = ApiToken.objects.create(user=user, name="grafana", digest="d" * 64, created_at=NOW)

    assert b"d" * 64 not in client.get(f"/admin/consumers/apitoken/{token.pk}/change/").content
    client.post(f"/admin/consumers/apitoken/{token.pk}/delete/", {"post": "yes"})
    assert not ApiToken.objects.exists()


def test_a_viewer_sees_what_is_registered_of_a_cluster(world):
    page = a_staff_client("viewer").get(f"/admin/consumers/cluster/{world.pk}/change/")
    assert page.status_code == 200
    assert world.namesrv in page.text
    assert "secret" not in page.text.lower()


@pytest.mark.parametrize("method", ["options", "put", "patch", "delete"])
def test_the_pages_answer_no_other_method(world, method):
    client = a_staff_client("admin")
    assert getattr(client, method)(f"/admin/consumers/cluster/{world.pk}/change/").status_code == 405


def test_the_list_says_a_rule_in_words(world):
    GroupState.objects.update(rule="within_threshold_before")
    assert "within threshold until recently" in a_staff_client("viewer").get("/admin/consumers/groupstate/").text


def test_the_first_page_lists_what_is_administered_before_users_and_stored_rows(world):
    lists = a_staff_client("admin").get("/admin/").context["app_list"]
    assert [app["app_label"] for app in lists] == ["consumers", "auth", "consumers"]
    assert {entry["object_name"] for entry in lists[0]["models"]} == ADMINISTERED


def test_what_is_administered_has_one_name_on_the_first_page_and_in_the_way_back(world):
    admin, name = a_staff_client("admin"), "Clusters and consumers"
    assert name in admin.get("/admin/").text
    assert f'<a href="/admin/consumers/">{name}</a>' in admin.get("/admin/consumers/cluster/").text


def test_the_first_page_leaves_out_no_model(world):
    lists = a_staff_client("admin").get("/admin/").context["app_list"]
    listed = [entry["model"] for app in lists for entry in app["models"] if app["app_label"] == "consumers"]
    assert sorted(listed, key=str) == sorted(MODELS, key=str)


def test_its_pages_bear_the_name_of_the_site(world):
    assert "Django administration" not in a_staff_client("admin").get("/admin/").text


def test_the_index_lists_models_in_the_order_of_what_people_look_for(world):
    index = a_staff_client("admin").get("/admin/consumers/").context["app_list"][0]["models"]
    names = [entry["object_name"] for entry in index]
    assert names[:5] == ["Cluster", "GroupThresholds", "ApiToken", "AuditEvent", "ConsumerGroup"]


def test_the_form_of_a_user_has_its_permissions_in_chinese():
    client = a_staff_client("admin")
    User.objects.filter(username="admin").update(is_superuser=True)
    page = client.get(f"/admin/auth/user/{User.objects.get().pk}/change/", headers={"Accept-Language": "zh-hans"}).text
    options = page.split('id="id_user_permissions"')[1].split("</select>")[0]
    assert all(words in options for words in (">可查看消费组<", ">可修改用户组<", ">可计划和执行位点重置<"))
    assert "Can " not in options


def test_the_scripts_of_the_forms_have_their_captions_in_chinese():
    client = a_staff_client("admin")
    script = client.get("/admin/jsi18n/", headers={"Accept-Language": "zh-hans"}).text
    assert f'"Choose all %s": {json.dumps("全选%s")}' in script
