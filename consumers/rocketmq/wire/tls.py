"""TLS towards brokers and name servers: the client begins it, on the ordinary port (5.4.0, NettyRemotingServer).

Certificates are verified, host names too, unless the options say otherwise in so many words.
"""

import ssl
from dataclasses import dataclass

from .errors import LocalProtocolError


@dataclass(frozen=True)
class TlsOptions:
    """Paths of PEM files. Without `ca` the machine's own authorities count; `key` may stand in `certificate`.

    `any_host`: a certificate of these authorities will do, whatever host it names.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True
    any_host: bool = False


def client_context(options: TlsOptions) -> ssl.SSLContext:
    """Raises LocalProtocolError where a file does not serve."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = options.verify and not options.any_host
    if not options.verify:
        context.verify_mode = ssl.CERT_NONE
    elif options.ca is None:
        context.load_default_certs()
    else:
        try:
            context.load_verify_locations(options.ca)
        except OSError as error:
            raise LocalProtocolError(f"the TLS authorities {options.ca} cannot be used ({_cause(error)})") from error
    if options.certificate is not None:
        try:
            # The answer to a question for a passphrase: none, where asking would block for ever.
            context.load_cert_chain(options.certificate, options.key, password=_no_passphrase)
        except (OSError, ValueError) as error:
            files = " and ".join(file for file in (options.certificate, options.key) if file)
            raise LocalProtocolError(f"the TLS certificate {files} cannot be used ({_cause(error)})") from error
    return context


def _no_passphrase() -> str:
    raise ValueError("its key is encrypted: give one without a passphrase, readable by the poll worker alone")


def _cause(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "it holds no valid PEM, or the two do not belong together"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
