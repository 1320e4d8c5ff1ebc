"""One request: what is sent, when it may be sent again, and what an answer means.

Nothing here waits or sends.
"""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Optional, Union
from urllib.parse import quote

import httpx

from .errors import UNCERTAIN, UNCHANGED, RetakeError

PAGE = 200
QUIET = 45.0  # a stream without a sign of life for so long is dead; the server gives one every 15 s

_FIRST_PAUSE = 0.1
_LONG_PAUSE = 5.0
_MAX_PAUSE = 60.0


@dataclass
class Ask:
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None  # bytes, or what gives them
    again: bool = True  # asking twice is asking once
    looks: bool = False  # nothing is changed by asking
    quiet: Optional[float] = None  # how long nothing may come
    doubt: bool = False  # a sending before this one may have arrived

    def may_again(self, t: Trouble) -> bool:
        if self.body is not None and not isinstance(self.body, bytes):
            return False  # what was read of it is gone
        if t.lost:
            return self.again or not t.sent
        return t.error.retryable and (self.again or t.error.status == 429)

    def told(self, t: Trouble) -> RetakeError:
        if t.lost:
            t.error.safe = UNCERTAIN if self.doubt and not self.looks else UNCHANGED
        return t.error


class Trouble(Exception):
    """A request that was not answered well."""

    def __init__(self, error: RetakeError, *, lost: bool = False, sent: bool = True, after: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.lost, self.sent, self.after = error, lost, sent, after


def ask(method: str, *parts: str, query: Optional[dict[str, Any]] = None, body: Any = None, again: bool = True, if_match: str = "") -> Ask:
    """A request for JSON. A deed has a key of its own, under which the server does it once. One with if_match is not
    sent again: when its answer was lost, what it changed is another one."""
    a = Ask(method, "/v1" + "".join("/" + _segment(p) for p in parts) + _query(query or {}), again=again and not if_match, looks=method == "GET")
    a.headers["Accept"] = "application/json"
    if if_match:
        a.headers["If-Match"] = if_match
    if method == "POST":
        a.headers["Idempotency-Key"] = str(uuid.uuid4())
    if body is not None:
        a.body = json.dumps(body).encode()
        a.headers["Content-Type"] = "application/json"
    return a


def _segment(part: str) -> str:
    if not part:
        raise RetakeError("invalid", "a name or an id is empty", safe=UNCHANGED)
    if part in (".", ".."):  # would be taken for a way through the address
        return part.replace(".", "%2E")
    return quote(part, safe="")


def _query(query: dict[str, Any]) -> str:
    pairs = []
    for name, value in query.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is None or v is False or isinstance(v, (str, bytes)) and not v:
                continue
            text = quote(v, safe="") if isinstance(v, bytes) else quote("true" if v is True else str(v), safe="")
            pairs.append(f"{quote(name)}={text}")
    return "?" + "&".join(pairs) if pairs else ""


def lost(error: httpx.TransportError) -> Trouble:
    """A connection that gave no whole answer."""
    unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    cause = str(error) or type(error).__name__
    return Trouble(RetakeError("unavailable", "the server does not answer", cause=cause, retryable=True), lost=True, sent=not unsent)


def refused(answer: httpx.Response) -> Trouble:
    """An answer that is not a good one. Its body has been read."""
    after = _seconds(answer.headers.get("Retry-After"))
    if answer.headers.get("Content-Type", "").startswith("application/problem+json"):
        try:
            return Trouble(RetakeError.of(answer.json()), after=after)
        except (ValueError, KeyError):
            pass
    away = answer.status_code in (502, 503, 504)
    error = RetakeError(
        "unavailable" if away else "internal",
        "the answer is not understood",
        safe=UNCERTAIN,
        cause=f"{answer.status_code} {answer.reason_phrase}, which is no answer of ours",
        status=answer.status_code,
        request_id=answer.headers.get("X-Request-Id", ""),
        retryable=away,
    )
    return Trouble(error, after=after)


def _seconds(text: Optional[str]) -> float:
    try:
        return min(max(float(text or 0), 0.0), _MAX_PAUSE)
    except ValueError:
        return 0.0


def pause(tries: int, after: float = 0.0) -> float:
    """Seconds to the next try. They grow, and differ between askers that were turned away together."""
    if after > 0:
        return after
    d = min(_FIRST_PAUSE * 2**tries, _LONG_PAUSE)
    return d / 2 + random.random() * d / 2


def checkpoint_id() -> str:
    """The id of a checkpoint that is to be: cp_ and a UUID of version 7."""
    n = int(time.time() * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
    n = n & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62
    return f"cp_{uuid.UUID(int=n)}"


Chunk = Union[bytes, bytearray]


class Stream:
    """Reads events from bytes as they come."""

    def __init__(self) -> None:
        self._rest = b""
        self._event = {"id": "", "event": "", "data": ""}

    def feed(self, chunk: Chunk) -> list[dict[str, str]]:
        """The events that are whole now. Only line feeds part lines: text may hold anything else."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        out = []
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode().partition(":")
            if name in self._event:
                value = value[1:] if value.startswith(" ") else value
                self._event[name] = self._event[name] + value if name == "data" else value
            elif not line.rstrip(b"\r"):
                if self._event["event"]:
                    out.append(self._event)
                self._event = {"id": "", "event": "", "data": ""}
        return out
