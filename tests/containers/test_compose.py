import pytest

from tests.containers.compose import PASSWORDS, NotSet, environment_of, own_services, services
from tests.settings_variables import settings_variables

CELERY_QUEUES = {"poll", "general", "alerts", "spark"}
# Where the volume is, whatever `.env` says.
FIXED = {"CONSUMERSCOPE_HOME"}


@pytest.mark.parametrize("name", services())
def test_it_publishes_on_the_loopback_only(name: str) -> None:
    for port in services()[name].get("ports", []):
        assert port.startswith("127.0.0.1:")


def test_every_queue_has_a_worker() -> None:
    from django.conf import settings

    routed = {settings.CELERY_TASK_DEFAULT_QUEUE, *(route["queue"] for route in settings.CELERY_TASK_ROUTES.values())}
    commands = [service["command"] for service in own_services().values()]
    served = {command[command.index("-Q") + 1] for command in commands if "-Q" in command}
    assert routed == served == CELERY_QUEUES


@pytest.mark.parametrize("name", services())
def test_everything_that_stays_up_is_watched(name: str) -> None:
    service = services()[name]
    is_one_shot = service.get("restart") == "no"
    assert ("healthcheck" in service) != is_one_shot


@pytest.mark.parametrize("name", services())
def test_it_waits_only_for_what_is_there(name: str) -> None:
    assert set(services()[name].get("depends_on", {})) <= set(services())


def test_only_rocketmq_and_its_registration_belong_to_the_demo() -> None:
    demo = {name for name, service in services().items() if service.get("profiles") == ["demo"]}
    assert demo == {"namesrv", "broker", "watch-demo"}


@pytest.mark.parametrize("name", own_services())
def test_what_env_says_reaches_every_service(name: str) -> None:
    said = PASSWORDS | {variable: f"said of {variable}" for variable in settings_variables() - FIXED}
    found = environment_of(own_services(said)[name], said)
    assert {variable: found.get(variable) for variable in said} == said


@pytest.mark.parametrize("name", own_services())
def test_a_service_starts_without_env_being_there(name: str) -> None:
    assert [file["required"] for file in own_services()[name]["env_file"]] == [False]


@pytest.mark.parametrize("name", own_services())
def test_a_variable_that_is_not_set_keeps_the_default_of_the_settings(name: str) -> None:
    named = settings_variables() & set(environment_of(own_services()[name], PASSWORDS))
    assert named == FIXED | {"DATABASE_URL", "REDIS_URL"}


@pytest.mark.parametrize("name", PASSWORDS)
def test_nothing_starts_without_passwords_of_its_own(name: str) -> None:
    with pytest.raises(NotSet, match=name):
        services({other: value for other, value in PASSWORDS.items() if other != name})


def test_the_services_know_the_passwords_of_postgres_and_redis() -> None:
    found = services()
    assert found["postgres"]["environment"]["POSTGRES_PASSWORD"] == "of-postgres"
    assert found["redis"]["environment"]["REDISCLI_AUTH"] == "of-redis"
    for service in own_services().values():
        assert "//consumerscope:of-postgres@postgres:" in service["environment"]["DATABASE_URL"]
        assert "//:of-redis@redis:" in service["environment"]["REDIS_URL"]


@pytest.mark.parametrize("name", services())
def test_a_service_has_no_more_rights_and_no_more_of_the_host_than_it_needs(name: str) -> None:
    service = services()[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["pids_limit"] > 0
    assert service["mem_limit"].endswith(("m", "g"))
    assert not service.get("privileged")
    assert ("cap_add" in service) == (name == "postgres")


@pytest.mark.parametrize("name", sorted(services().keys() - {"namesrv", "broker"}))
def test_a_service_writes_to_its_volumes_and_to_tmp_alone(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert {place.split(":")[0] for place in service["tmpfs"]} <= {"/tmp", "/var/run/postgresql"}


def test_what_spark_puts_aside_is_not_held_in_memory() -> None:
    service = own_services()["spark"]
    [folder] = [volume.split(":")[1] for volume in service["volumes"]]
    assert service["environment"]["SPARK_LOCAL_DIRS"].startswith(f"{folder}/")
