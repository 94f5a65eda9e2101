"""An authority of the tests' own, and certificates that it signs, as PEM files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

BEGIN, END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=36500)


@dataclass(frozen=True)
class Issued:
    certificate: Path
    key: Path


class Authority:
    """`certificate` is what those who trust it are given."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder, self._name = folder, _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = folder / f"{name}.pem"
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        signed = self._builder(self._name, self._key).add_extension(constraints, critical=True)
        self.certificate.write_bytes(signed.sign(self._key, SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name: str, address: str = "127.0.0.1", names: Sequence[str] = ()) -> Issued:
        """For the host at `address`, and those that are called `names`."""
        key = ec.generate_private_key(ec.SECP256R1())
        called = [x509.DNSName(one) for one in names]
        hosts = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address)), *called])
        signed = self._builder(_name(name), key).add_extension(hosts, critical=False).sign(self._key, SHA256())
        made = Issued(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        made.certificate.write_bytes(signed.public_bytes(Encoding.PEM))
        made.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return made

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
        return builder.serial_number(x509.random_serial_number()).not_valid_before(BEGIN).not_valid_after(END)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
