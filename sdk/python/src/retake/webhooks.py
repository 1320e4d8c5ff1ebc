"""What the receiver of a webhook does: Standard Webhooks 1.0, signatures v1 and v1a."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Callable, Mapping, Optional, Union

from . import _ed25519
from .errors import RetakeError

TOLERANCE = 300  # seconds
_MOST = 16  # signatures that are looked at


def verify_webhook(secret: str, headers: Mapping[str, str], body: Union[bytes, str], now: Optional[float] = None) -> dict[str, Any]:
    """The message, when one of its signatures fits and it is not older than five minutes; else the error is denied.

    secret is what make_webhook told: whsec_… or whpk_…. body is what was received, byte for byte. A message may come
    twice: its webhook-id is the same then.
    """
    raw = body.encode() if isinstance(body, str) else bytes(body)
    fits = _checker(secret)
    given = {k.lower(): v for k, v in headers.items()}
    id, stamp, list_ = (given.get(f"webhook-{n}", "") for n in ("id", "timestamp", "signature"))
    if not id or not list_ or not (stamp.isascii() and stamp.isdigit()):
        raise _denied("headers are missing or make no sense")
    if abs((time.time() if now is None else now) - int(stamp)) > TOLERANCE:
        raise _denied("the message is too old or from the future")
    text = f"{id}.{stamp}.".encode() + raw
    for s in list_.split()[:_MOST]:
        version, _, encoded = s.partition(",")
        try:
            signature = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            continue
        if fits(version, text, signature):
            return json.loads(raw)
    raise _denied("no signature fits")


def _checker(secret: str) -> Callable[[str, bytes, bytes], bool]:
    for prefix, least, most in (("whsec_", 24, 64), ("whpk_", 32, 32)):
        if secret.startswith(prefix):
            try:
                key = base64.b64decode(secret[len(prefix) :], validate=True)
            except binascii.Error:
                break
            if not least <= len(key) <= most:
                break
            if prefix == "whpk_":
                return lambda version, text, sig: version == "v1a" and _ed25519.verify(key, text, sig)
            return lambda version, text, sig: version == "v1" and hmac.compare_digest(sig, hmac.new(key, text, hashlib.sha256).digest())
    raise RetakeError("invalid", "the secret is not one of a webhook")


def _denied(what: str) -> RetakeError:
    return RetakeError("invalid_signature", what, hint="do not trust this message")
