"""Secrets as the database holds them: encrypted under a key that only the site's own key and their purpose give."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

OF_CLUSTERS = "consumerscope: secret keys of clusters"
OF_CHANNELS = "consumerscope: addresses and secrets of channels"


class SecretNotReadable(Exception):
    """It was sealed under another site key, or is damaged."""


def seal(secret: str, site_key: str, purpose: str = OF_CLUSTERS) -> str:
    return _fernet(site_key, purpose).encrypt(secret.encode()).decode()


def unseal(sealed: str, site_key: str, purpose: str = OF_CLUSTERS) -> str:
    """Raises SecretNotReadable: also for what was sealed for another purpose."""
    try:
        return _fernet(site_key, purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SecretNotReadable from None


def _fernet(site_key: str, purpose: str) -> Fernet:
    """The site key signs sessions too: a key derived for each purpose keeps them apart."""
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(site_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
