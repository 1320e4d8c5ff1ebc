"""Writes src/retake/_sync from src/retake/_async: the same without waiting.

    python3 sdk/python/generate.py

The test compares them with what would be written.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent / "src" / "retake"

HEAD = "# Made by sdk/python/generate.py from {}. Do not edit.\n"
WORDS = {
    "AsyncClient": "Client",
    "AsyncIterable": "Iterable",
    "AsyncIterator": "Iterator",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "asyncio": "time",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
}


def plain(text: str) -> str:
    """The text without waiting."""
    for word, other in WORDS.items():
        text = re.sub(rf"\b{word}\b", other, text)
    text = re.sub(r"\basync (def|for|with)\b", r"\1", text)
    text = re.sub(r"\bawait ", "", text)
    text = re.sub(r"\bAsync(?=[A-Z])", "", text)
    text = re.sub(r"^(from typing import .*)$", lambda m: _once(m.group(1)), text, flags=re.M)
    return text


def _once(line: str) -> str:
    head, names = line.split(" import ")
    return f"{head} import {', '.join(sorted(set(names.split(', '))))}"


def outputs() -> dict[Path, str]:
    """Every file, and its text."""
    out = {HERE / "_sync" / "__init__.py": '"""Made of _async by generate.py."""\n'}
    for source in sorted((HERE / "_async").glob("[a-z]*.py")):
        out[HERE / "_sync" / source.name] = HEAD.format(f"_async/{source.name}") + plain(source.read_text())
    return out


if __name__ == "__main__":
    for path, text in outputs().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
