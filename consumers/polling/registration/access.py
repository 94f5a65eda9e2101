"""What a cluster wants of those who connect: a signature, TLS, both or neither."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from consumers.models import Cluster
from consumers.rocketmq.wire.acl import Credentials
from consumers.rocketmq.wire.errors import LocalProtocolError
from consumers.rocketmq.wire.tls import TlsOptions, client_context

from .sealed_secret import SecretNotReadable, unseal


class NoAccess(Exception):
    """The cluster cannot be asked anything; str() says why and what to do."""


@dataclass(frozen=True)
class Access:
    """Two that are equal need no other connections. `stamps` tell files that were replaced at the same path."""

    credentials: Credentials | None = None
    tls: TlsOptions | None = None
    stamps: tuple[tuple[str, int], ...] = ()

    def context(self) -> ssl.SSLContext | None:
        """Raises NoAccess."""
        if self.tls is None:
            return None
        try:
            return client_context(self.tls)
        except LocalProtocolError as error:
            raise NoAccess(f"{error}: correct the file, or name another: manage.py cluster add.") from None


def access_of(cluster: Cluster, site_key: str) -> Access:
    """Raises NoAccess."""
    tls = tls_of(cluster)
    return Access(credentials_of(cluster, site_key), tls, stamps_of(tls))


def credentials_of(cluster: Cluster, site_key: str) -> Credentials | None:
    if not cluster.access_key:
        return None
    if not cluster.sealed_secret:
        raise NoAccess(
            f"{cluster.name} has the access key {cluster.access_key} and no secret key: "
            f"manage.py cluster add {cluster.name} --secret-key-env VARIABLE."
        )
    try:
        return Credentials(cluster.access_key, unseal(cluster.sealed_secret, site_key))
    except SecretNotReadable:
        raise NoAccess(
            f"The secret key of {cluster.name} was stored under another CONSUMERSCOPE_SECRET_KEY: "
            f"give it again, manage.py cluster add {cluster.name} --secret-key-env VARIABLE, or set the old one."
        ) from None


def tls_of(cluster: Cluster) -> TlsOptions | None:
    return None if cluster.tls is None else TlsOptions(**cluster.tls)


def stamps_of(tls: TlsOptions | None) -> tuple[tuple[str, int], ...]:
    """A certificate that was renewed counts from the next poll on. A missing file has no stamp: opening it says so."""
    named = [tls.ca, tls.certificate, tls.key] if tls else []
    return tuple((name, Path(name).stat().st_mtime_ns) for name in named if name and Path(name).exists())
