"""Plays sdk/behaviours.json with this package. Started by test/sdk, which tells where its desk is."""

from __future__ import annotations

import argparse
import asyncio
import base64
import inspect
import json
import re
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, Optional

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "src"))

import httpx  # noqa: E402

from retake import AsyncRetake, Retake, RetakeError, models, verify_webhook  # noqa: E402
from retake._wire import decode, encode, instant  # noqa: E402

LONG = 120.0


class Failed(Exception):
    """Something is not as wanted."""


def at(value: Any, path: str) -> Any:
    for part in path.split(".") if path else []:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and re.fullmatch(r"-?\d+", part) and -len(value) <= int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def filled(value: Any, kept: dict) -> Any:
    if isinstance(value, str):
        if value.startswith("$"):
            return at(kept, value[1:])
        return re.sub(r"\{(\w+(?:\.\w+)*)\}", lambda m: m[0] if at(kept, m[1]) is None else str(at(kept, m[1])), value)
    if isinstance(value, list):
        return [filled(v, kept) for v in value]
    if isinstance(value, dict):
        return {filled(k, kept): filled(v, kept) for k, v in value.items()}
    return value


def contains(x: Any, value: Any) -> bool:
    return all(at(x, k) == v for k, v in value.items()) if isinstance(value, dict) else x == value


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "is": lambda got, v: got == v,
    "not": lambda got, v: got != v,
    "set": lambda got, _: bool(got),
    "empty": lambda got, _: not got,
    "count": lambda got, v: len(got or []) == v,
    "above": lambda got, v: isinstance(got, (int, float)) and got > v,
    "once": lambda got, v: sum(contains(x, v) for x in got or []) == 1,
    "has": lambda got, v: str(v) in got if isinstance(got, str) else any(contains(x, v) for x in got or []),
}


def judge(got: Any, want: Optional[list], kept: dict) -> None:
    for path, word, *rest in want or []:
        value = filled(rest[0], kept) if rest else None
        if not HOLDS[word](at(got, path), value):
            raise Failed(f"{path} is {json.dumps(at(got, path))[:300]}, want {word} {value!r}")


def named(text: Any) -> Any:
    """An argument; one that begins with base64: is bytes."""
    if isinstance(text, str) and text.startswith("base64:"):
        return base64.b64decode(text[7:])
    return [named(t) for t in text] if isinstance(text, list) else text


class Player:
    def __init__(self, desk: str, awaited: bool) -> None:
        self.desk, self.awaited = desk, awaited
        self.http = httpx.Client(timeout=LONG)
        self.loop = asyncio.new_event_loop()
        bed = self.ask("/bed")
        self.url, self.keys = bed["url"], bed["keys"]
        self.runs, self.kept = 0, {}

    def ask(self, path: str, body: Any = None, raw: bool = False) -> Any:
        if body is None:
            answer = self.http.get(self.desk + path)
        else:
            answer = self.http.post(self.desk + path, content=body if isinstance(body, bytes) else json.dumps(body).encode())
        if answer.status_code != 200:
            raise Failed(f"the desk says {answer.status_code}: {answer.text}")
        return answer.content if raw else answer.json()

    def behave(self, b: dict) -> None:
        self.runs += 1
        self.kept = {"n": f"b{self.runs}", "desk": self.desk}
        self.ask("/fault", {})
        if "files" in b:
            made = self.call({"call": "import_archive", "args": {"files": b["files"], "name": self.kept["n"]}})
            self.kept.update(w=made["workspace"]["id"], root=made["workspace"]["root"])
        self.steps(b["steps"])

    def steps(self, steps: list) -> None:
        for i, s in enumerate(steps):
            try:
                self.step(s)
            except (Failed, RetakeError) as e:
                raise Failed(f"step {i + 1}, {s.get('call', '')}: {e}") from e

    def step(self, s: dict) -> None:
        if "disk" in s:
            got = self.ask("/disk", {**s["disk"], "root": filled(s["disk"].get("root", "$root"), self.kept)})
        elif s.get("restart"):
            got = self.ask("/restart", {})
        elif "hook" in s:
            got = self.ask(f"/hook/{filled(s['hook'], self.kept)}?count={s['count']}")
        else:
            self.called(s)
            return
        if "keep" in s:
            self.kept[s["keep"]] = got
        judge(got, s.get("want"), self.kept)

    def called(self, s: dict) -> None:
        end = time.monotonic() + LONG
        while True:
            try:
                self.watched(s)
                return
            except (Failed, RetakeError):
                if not s.get("until") or time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def watched(self, s: dict) -> None:
        if "fault" not in s and "seen" not in s:
            self.once(s)
            return
        self.ask("/fault", s.get("fault", {}))
        self.once(s)
        seen = self.ask("/seen")
        if "fault" in s and s["fault"]["do"] != "none" and seen["faults"] == 0:
            raise Failed("nothing met the fault")
        judge(seen, s.get("seen"), self.kept)

    def once(self, s: dict) -> None:
        try:
            got = self.call(s)
        except RetakeError as e:
            if "error" not in s:
                raise
            told = {k: encode(v) for k, v in vars(e).items()}
            judge(told, s["error"], self.kept)
            return
        if "error" in s:
            raise Failed("there is no error")
        if "keep" in s:
            self.kept[s["keep"]] = got
        judge(got, s.get("want"), self.kept)

    def call(self, s: dict) -> Any:
        key = filled(s.get("key") or "operator", self.kept)
        workspace = filled(s.get("in") or self.kept.get("w"), self.kept)
        kind = AsyncRetake if self.awaited else Retake
        r = kind(
            self.url, self.keys.get(key, key), workspace=None if workspace == "default" else workspace, retries=s.get("retries", 5)
        )
        args = {k: named(v) for k, v in filled(s.get("args", {}), self.kept).items()}
        try:
            return encode(OTHERWISE.get(s["call"], plainly)(self, r, s, args))
        finally:
            self.done(r.aclose() if self.awaited else r.close())

    def done(self, value: Any) -> Any:
        """What a call gives, awaited or not; an iterator becomes a list."""
        if inspect.isawaitable(value):
            return self.loop.run_until_complete(value)
        if inspect.isasyncgen(value):
            return list(self.each(value))
        return list(value) if inspect.isgenerator(value) else value

    def each(self, many: Any) -> Any:
        if not inspect.isasyncgen(many):
            yield from many
            return
        while True:
            try:
                yield self.loop.run_until_complete(many.__anext__())
            except StopAsyncIteration:
                return


def plainly(p: Player, r: Any, s: dict, args: dict) -> Any:
    return p.done(getattr(r, s["call"])(**args))


def bytes_of(p: Player, r: Any, s: dict, args: dict) -> Any:
    data = plainly(p, r, s, args)
    try:
        return {"text": data.decode(), "base64": data}
    except UnicodeDecodeError:
        return {"base64": data}


def archive(p: Player, r: Any, s: dict, args: dict) -> Any:
    return p.ask("/untar", b"".join(plainly(p, r, s, args)))


def write_file(p: Player, r: Any, s: dict, args: dict) -> Any:
    return p.done(r.write_file(args.pop("path"), args.pop("text").encode(), **args))


def import_archive(p: Player, r: Any, s: dict, args: dict) -> Any:
    data = p.ask("/tar", args.pop("files"), raw=True) if "files" in args else args.pop("bytes").encode()
    return p.done(r.import_archive(data, **args))


def apply(p: Player, r: Any, s: dict, args: dict) -> Any:
    return p.done(r.apply(decode(models.Plan, args.pop("plan")), **args))


def change_webhook(p: Player, r: Any, s: dict, args: dict) -> Any:
    if "disabled" in args:
        args["disabled"] = instant(args["disabled"])
    return plainly(p, r, s, args)


def follow(p: Player, r: Any, s: dict, args: dict) -> Any:
    got: list[models.Event] = []
    last, rising = 0, True
    workspace = r._workspace
    stream = r.follow(args.get("after", 0))
    for e in p.each(stream):
        rising, last = rising and e.seq > last, e.seq
        assert isinstance(e.time, datetime)
        if e.data.workspace != workspace:
            continue
        got.append(e)
        if len(got) == 1:
            p.steps(s.get("then", []))
        if len(got) == args["count"]:
            break
    p.done(stream.aclose() if p.awaited else stream.close())
    return {"events": got, "rising": rising}


def verify(p: Player, r: Any, s: dict, args: dict) -> Any:
    m = args["message"]
    return verify_webhook(args["secret"], m["headers"], args.get("body", m["body"]), now=time.time() + args.get("later", 0))


OTHERWISE = {
    "read": bytes_of,
    "stored": bytes_of,
    "conversation": bytes_of,
    "archive": archive,
    "import_archive": import_archive,
    "write_file": write_file,
    "apply": apply,
    "change_webhook": change_webhook,
    "follow": follow,
    "verify_webhook": verify,
}


def main() -> int:
    flags = argparse.ArgumentParser()
    flags.add_argument("--script", required=True)
    flags.add_argument("--desk", required=True)
    flags.add_argument("--name", default="")
    flags.add_argument("--awaited", action="store_true")
    flags.add_argument("--verbose", action="store_true")
    o = flags.parse_args()
    who = "python, awaited" if o.awaited else "python"
    player = Player(o.desk, o.awaited)
    counts = {"done": 0, "controls": 0, "failed": 0}
    for b in json.loads(Path(o.script).read_text())["behaviours"]:
        if o.name not in b["name"]:
            continue
        if why := b.get("without", {}).get("python"):
            print(f"{who}: without: {b['name']}: {why}")
            continue
        trouble = None
        try:
            player.behave(b)
        except (Failed, RetakeError) as e:
            trouble = str(e)
        if b.get("control"):
            trouble = None if b["control"] in (trouble or "") else f"what it breaks was not noticed: {trouble}"
        counts["controls" if b.get("control") else "done"] += 1
        if trouble:
            counts["failed"] += 1
            print(f"{who}: FAILED: {b['name']}: {trouble}")
        elif o.verbose:
            print(f"{who}: {b['name']}", flush=True)
    print(f"{who}: {counts['done']} behaviours and {counts['controls']} controls, {counts['failed']} failed", flush=True)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
