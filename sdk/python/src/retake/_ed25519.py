"""Checks signatures of Ed25519 (RFC 8032). Everything here is public, so time tells nothing.

There is no way to sign, and a check takes some milliseconds: enough for webhooks.
"""

from __future__ import annotations

import hashlib
from typing import Optional

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_I = pow(2, (_P - 1) // 4, _P)  # a root of -1

# A point is X, Y, Z and T with x = X/Z, y = Y/Z and x*y = T/Z.
_Point = tuple[int, int, int, int]


def verify(key: bytes, text: bytes, signature: bytes) -> bool:
    """Whether the signature over the text is of the key."""
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = _point(key), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % _L
    return _same(_times(s, _BASE), _sum(r, _times(h, a)))


def _sum(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(n: int, p: _Point) -> _Point:
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = _sum(q, p)
        p = _sum(p, p)
        n >>= 1
    return q


def _same(p: _Point, q: _Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % _P == 0 and (p[1] * q[2] - q[1] * p[2]) % _P == 0


def _point(data: bytes) -> Optional[_Point]:
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    x = _across(y, odd)
    return None if x is None else (x, y, 1, x * y % _P)


def _across(y: int, odd: int) -> Optional[int]:
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _I % _P
    if (x * x - square) % _P or x == 0 and odd:
        return None
    return _P - x if x & 1 != odd else x


_BASE = _point((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little")) or (0, 1, 1, 0)
