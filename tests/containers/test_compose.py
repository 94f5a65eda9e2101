import pytest

from tests.containers.compose import own_services, services

CELERY_QUEUES = {"poll", "general", "alerts", "spark"}


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
