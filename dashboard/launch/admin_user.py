"""The first user: made once, with a generated password that the home remembers for its owner alone."""

import secrets
from pathlib import Path

from django.contrib.auth import get_user_model

NAME = "admin"


def ensure_admin(home: Path) -> str:
    """What to tell about signing in. A password that somebody has changed is not touched, nor known here."""
    kept = home / "admin_password"
    users = get_user_model()
    user = users.objects.filter(username=NAME).first()
    if user is None:
        kept.unlink(missing_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(f"{secrets.token_urlsafe(12)}\n")
        users.objects.create_superuser(NAME, password=kept.read_text().strip())
    elif not (kept.is_file() and user.check_password(kept.read_text().strip())):
        return f"user {NAME}, with the password you gave it (manage.py changepassword {NAME} sets another)"
    return f"user {NAME}, password {kept.read_text().strip()}"
