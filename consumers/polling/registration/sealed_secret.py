"""Secret keys of clusters, as the database holds them: encrypted under a key that only the site's own key gives."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PURPOSE = b"consumerscope: secret keys of clusters"


class SecretNotReadable(Exception):
    """It was sealed under another site key, or is damaged."""


def seal(secret: str, site_key: str) -> str:
    return _fernet(site_key).encrypt(secret.encode()).decode()


def unseal(sealed: str, site_key: str) -> str:
    try:
        return _fernet(site_key).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SecretNotReadable from None


def _fernet(site_key: str) -> Fernet:
    """The site key signs sessions too: a key derived for this one purpose keeps the two apart."""
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(site_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
