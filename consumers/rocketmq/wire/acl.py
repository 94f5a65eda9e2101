"""Signatures for brokers with access control, the same for ACL 1.0 and 2.0 (5.4.0, AclClientRPCHook, AclSigner)."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Credentials:
    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)

    def signed(self, ext_fields: Mapping[str, str], body: bytes) -> dict[str, str]:
        """`ext_fields` with the keys and the signature. What is added afterwards makes the signature wrong."""
        fields = {**ext_fields, "AccessKey": self.access_key}
        if self.security_token is not None:
            fields["SecurityToken"] = self.security_token
        fields.pop("Signature", None)
        # Values only, in the order of their keys, no separators, then the body.
        content = "".join(fields[name] for name in sorted(fields)).encode() + body
        digest = hmac.new(self.secret_key.encode(), content, hashlib.sha1).digest()
        return {**fields, "Signature": base64.b64encode(digest).decode()}
