"""Between JSON and the dataclasses of models."""

from __future__ import annotations

import base64
import dataclasses
import functools
import re
from datetime import datetime, timezone
from typing import Any, Optional, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_FRACTION = re.compile(r"\.(\d+)")


def decode(kind: Any, value: Any) -> Any:
    """The value of a type. What is not known is left out, so that a server may grow."""
    origin = get_origin(kind)
    if origin is Union:
        return None if value is None else decode(get_args(kind)[0], value)
    if origin is list:
        item = get_args(kind)[0]
        return [decode(item, v) for v in value or []]
    if origin is dict:
        item = get_args(kind)[1]
        return {k: decode(item, v) for k, v in (value or {}).items()}
    if dataclasses.is_dataclass(kind):
        return _record(kind, value)
    if kind is datetime:
        return instant(value)
    if kind is bytes:
        return base64.b64decode(value)
    return value


def _record(kind: Any, value: dict[str, Any]) -> Any:
    given = {}
    for attribute, name, hint in _fields(kind):
        if name in value:
            given[attribute] = decode(hint, value[name])
    return kind(**given)


@functools.lru_cache(maxsize=None)
def _fields(kind: Any) -> list[tuple[str, str, Any]]:
    hints = get_type_hints(kind)
    return [(f.name, f.name.rstrip("_"), hints[f.name]) for f in dataclasses.fields(kind)]


def encode(value: Any) -> Any:
    """JSON of a dataclass, a time, bytes, or what is JSON already."""
    kind: Any = type(value)
    if dataclasses.is_dataclass(kind):
        return {name: encode(v) for attribute, name, _ in _fields(kind) if (v := getattr(value, attribute)) is not None}
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {k: encode(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    return value


def instant(text: str) -> datetime:
    """A time of RFC 3339. A datetime has no more than microseconds."""
    text = _FRACTION.sub(lambda m: "." + m.group(1)[:6].ljust(6, "0"), text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def stamp(at: datetime) -> str:
    """A time as it is sent. One without a zone is of this machine's."""
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def present(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    return {k: encode(v) for k, v in fields.items() if v is not None and v is not False and v not in ("", (), [])}


def paths_of(paths: Union[str, bytes, list, tuple]) -> dict[str, Optional[list]]:
    """Paths as a request has them: their bytes too, when one is no text."""
    every = [paths] if isinstance(paths, (str, bytes)) else list(paths)
    raw = [p if isinstance(p, bytes) else p.encode() for p in every] if any(isinstance(p, bytes) for p in every) else None
    return {"paths": [p.decode("utf-8", "replace") if isinstance(p, bytes) else p for p in every], "paths_raw": raw}
