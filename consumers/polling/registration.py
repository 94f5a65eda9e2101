"""What a cluster is registered with: addresses, credentials, TLS and offset files, checked without connecting."""

import asyncio
import base64
import logging
import ssl
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from consumers.models import Cluster
from consumers.rocketmq.names import parse_address
from consumers.rocketmq.wire.codes import Credentials, LocalProtocolError, RocketMQError, TlsOptions, client_context
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.stores.files.stored_file import NAMES, WrongFileGlob, begins_inside, may_name_one, parse_offset_files
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.registration import OptionProblem

# Secrets as the database holds them: encrypted with a key derived from the site key and the secret's purpose.
OF_CLUSTERS = "consumerscope: secret keys of clusters"

OF_CHANNELS = "consumerscope: addresses and secrets of channels"


class SecretNotReadable(Exception):
    """The secret was sealed with another site key, or is damaged."""


def seal(secret: str, site_key: str, purpose: str = OF_CLUSTERS) -> str:
    return _fernet(site_key, purpose).encrypt(secret.encode()).decode()


def unseal(sealed: str, site_key: str, purpose: str = OF_CLUSTERS) -> str:
    """Raises SecretNotReadable, also for a secret that was sealed for another purpose."""
    try:
        return _fernet(site_key, purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SecretNotReadable from None


def _fernet(site_key: str, purpose: str) -> Fernet:
    """Derives a key for each purpose. The site key also signs sessions; derived keys keep the uses apart."""
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(site_key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


# What a cluster requires of clients that connect: a signature, TLS, both or neither.
class NoAccess(Exception):
    """The cluster cannot be contacted; str() says why and what to do, as `stored_reason` gives it."""


@dataclass(frozen=True)
class Access:
    """How to connect to a cluster. Equal accesses can share connections. `stamps` reveal files that were replaced at
    the same path.
    """

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
            raise NoAccess(stored_reason(PollProblem.TLS_UNUSABLE, error=str(error))) from None


def access_of(cluster: Cluster, site_key: str) -> Access:
    """Raises NoAccess."""
    tls = tls_of(cluster)
    return Access(credentials_of(cluster, site_key), tls, stamps_of(tls))


def credentials_of(cluster: Cluster, site_key: str) -> Credentials | None:
    if not cluster.access_key:
        return None
    if not cluster.sealed_secret:
        values = {"cluster": cluster.name, "access_key": cluster.access_key}
        raise NoAccess(stored_reason(PollProblem.NO_SECRET_KEY, **values))
    try:
        return Credentials(cluster.access_key, unseal(cluster.sealed_secret, site_key))
    except SecretNotReadable:
        raise NoAccess(stored_reason(PollProblem.SECRET_SEALED_OTHERWISE, cluster=cluster.name)) from None


def tls_of(cluster: Cluster) -> TlsOptions | None:
    return None if cluster.tls is None else TlsOptions(**cluster.tls)


def stamps_of(tls: TlsOptions | None) -> tuple[tuple[str, int], ...]:
    """A renewed certificate takes effect at the next poll. A missing file has no stamp: opening the file raises the
    error.
    """
    named = [tls.ca, tls.certificate, tls.key] if tls else []
    return tuple((name, Path(name).stat().st_mtime_ns) for name in named if name and Path(name).exists())


# Checks a cluster's registration without connecting anywhere or opening a file.
#
# The command and the admin pages share these checks. Certificate files must be visible to the poll worker.
LONGEST_NAME = 100


class WrongOption(ValueError):
    """`option` names the wrong option; str() says why, as `stored_reason` gives it or as a sentence."""

    def __init__(self, option: str, why: str) -> None:
        super().__init__(why)
        self.option = option


def checked_name(name: str) -> str:
    """The lake keeps each cluster in a folder of its name."""
    if not name or len(name) > LONGEST_NAME or "/" in name:
        raise WrongOption("name", stored_reason(OptionProblem.NAME, longest=LONGEST_NAME))
    return name


def checked_addresses(option: str, text: str) -> str:
    """Normalizes to `host:port;host:port` without spaces; empty if there is no address."""
    addresses = [address.strip() for address in text.split(";") if address.strip()]
    for address in addresses:
        try:
            parse_address(address)
        except LocalProtocolError:
            raise WrongOption(option, stored_reason(OptionProblem.ADDRESS, address=address)) from None
    return ";".join(addresses)


def checked_name_servers(text: str) -> str:
    addresses = checked_addresses("namesrv", text)
    if not addresses:
        raise WrongOption("namesrv", stored_reason(OptionProblem.NO_NAME_SERVER))
    return addresses


def checked_offset_files(text: str) -> str:
    try:
        globs = parse_offset_files(text)
    except WrongFileGlob as error:
        raise WrongOption("offset_files", str(error)) from None
    folders = settings.POLL_OFFSET_FOLDERS
    for glob in globs:
        if not may_name_one(glob.pattern):
            raise WrongOption("offset_files", stored_reason(OptionProblem.NO_OFFSET_FILE, glob=str(glob), names=NAMES))
        if not begins_inside(glob.pattern, folders):
            values = {"glob": str(glob), "folders": ":".join(folders)}
            raise WrongOption("offset_files", stored_reason(OptionProblem.OUTSIDE_FOLDERS, **values))
    return ";".join(map(str, globs))


def checked_tls(options: Mapping[str, Any]) -> dict[str, Any]:
    """`ca`, `certificate`, `key` (paths or None), `verify`, and `any_host` if given: as the row stores them."""
    tls = {**{name: options.get(name) or None for name in ("ca", "certificate", "key")}, "verify": options["verify"]}
    for name in ("ca", "certificate", "key"):
        if tls[name] is not None and not tls[name].startswith("/"):
            raise WrongOption(f"tls_{name}", stored_reason(OptionProblem.TLS_PATH))
    if tls["key"] and not tls["certificate"]:
        raise WrongOption("tls_key", stored_reason(OptionProblem.TLS_KEY_ALONE))
    if tls["ca"] and not tls["verify"]:
        raise WrongOption("tls_ca", stored_reason(OptionProblem.TLS_CA_UNUSED))
    if options.get("any_host"):
        if not tls["ca"]:
            raise WrongOption("tls_any_host", stored_reason(OptionProblem.TLS_ANY_HOST))
        tls["any_host"] = True
    return tls


def set_secret(cluster: Cluster, access_key: str, secret_key: str, site_key: str) -> None:
    cluster.access_key, cluster.sealed_secret = access_key, seal(secret_key, site_key)


logger = logging.getLogger(__name__)

T = TypeVar("T")

# Every call inside has its own deadline. This limit bounds a sum of calls that would not end, or a stuck loop.
LONGEST_SECONDS = 600.0
# A close waits this long for connections to end, and then abandons them.
CLOSE_SECONDS = 5.0
CLOSED = stored_reason(PollProblem.CONNECTIONS_CLOSED)


class WireClosed(RocketMQError):
    """The wire was closed or abandoned before the result was there. Another wire may be asked. str() is a reason as
    `stored_reason` gives it.
    """


class Wire:
    """Connections to one cluster. `run` may be called from any thread, one reading at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="rocketmq-wire", daemon=True)
        self._thread.start()
        self._guard = threading.Lock()
        self._gone: str | None = None
        self._is_closing = False
        self._asked: set[Future[Any]] = set()
        self._using = threading.Lock()
        self._access = Access()
        self.pool = ConnectionPool()

    @property
    def usable(self) -> bool:
        """False after the wire was closed, or did not answer in time: it takes no more work, and a new wire is
        needed.
        """
        return self._gone is None

    def use(self, access: Access) -> None:
        """Sets the access for connections opened from now on. Raises NoAccess, WireClosed."""
        with self._using:
            if access == self._access:
                return
            pool = ConnectionPool(credentials=access.credentials, tls=access.context())
            self.run(self.pool.close())
            self.pool, self._access = pool, access

    def run(self, work: Coroutine[Any, Any, T], *, longest_seconds: float = LONGEST_SECONDS) -> T:
        """Returns or raises what `work` does. Raises WireClosed if the wire is closed, or if `work` lasts too long.

        With `never_sent` set on that error, `work` was not started.
        """
        asked = self._begin(work)
        try:
            return self._result(asked, longest_seconds)
        except CancelledError:
            raise WireClosed(self._gone or CLOSED) from None
        finally:
            with self._guard:
                self._asked.discard(asked)

    def close(self) -> None:
        """Running calls fail with WireClosed. Returns within some seconds, even if a connection does not end.

        May be called more than once, from any thread.
        """
        self._leave(CLOSED)
        with self._guard:
            if self._is_closing:
                return
            self._is_closing = True
        self._loop.call_soon_threadsafe(self._loop.create_task, self._end())
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            logger.error("Connections to a cluster did not end within %s s, and were left.", CLOSE_SECONDS)

    def _begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._guard:
            if self._gone is None:
                asked = asyncio.run_coroutine_threadsafe(work, self._loop)
                self._asked.add(asked)
                return asked
        work.close()
        refused = WireClosed(self._gone)
        refused.never_sent = True
        raise refused

    def _result(self, asked: "Future[T]", longest_seconds: float) -> T:
        try:
            return asked.result(longest_seconds)
        except TimeoutError:
            if not asked.done():
                self._leave(stored_reason(PollProblem.WORK_TOO_LONG, limit_seconds=longest_seconds))
            # The work has ended by now, or was cancelled: the result is available at once.
            return asked.result(0)

    def _leave(self, reason: str) -> None:
        """Refuses further work and ends running work: its callers continue at once."""
        with self._guard:
            if self._gone is None:
                self._gone = reason
            under_way = list(self._asked)
        for asked in under_way:
            asked.cancel()

    def _serve(self) -> None:
        """Runs until the wire is closed. The closing thread may have ended by then, if the loop was stuck."""
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.pool.close()
                await asyncio.gather(*others, return_exceptions=True)
        except TimeoutError:
            logger.error("Connections to a cluster did not end within %s s, and were left.", CLOSE_SECONDS)
        finally:
            self._loop.stop()
