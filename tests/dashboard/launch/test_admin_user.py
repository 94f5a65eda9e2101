from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from dashboard.launch.launcher import ensure_admin

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_hashes(settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def admin():
    return get_user_model().objects.get(username="admin")


def test_it_makes_an_admin_whose_password_only_the_owner_of_the_home_can_read(tmp_path: Path) -> None:
    told = ensure_admin(tmp_path)
    kept = tmp_path / "admin_password"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert told == f"user admin, password {kept.read_text().strip()}"
    assert admin().is_superuser
    assert admin().check_password(kept.read_text().strip())


def test_it_tells_the_same_password_at_the_next_start(tmp_path: Path) -> None:
    assert ensure_admin(tmp_path) == ensure_admin(tmp_path)


def test_it_makes_another_password_for_another_home(tmp_path: Path) -> None:
    first = ensure_admin(tmp_path)
    admin().delete()
    assert ensure_admin(tmp_path) != first


def test_it_does_not_touch_a_password_that_was_changed(tmp_path: Path) -> None:
    ensure_admin(tmp_path)
    user = admin()
    user.set_password("chosen by a person")
    user.save()
    assert "with the password you gave it" in ensure_admin(tmp_path)
    assert admin().check_password("chosen by a person")
