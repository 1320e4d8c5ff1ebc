"""What needs no server. The rest is in sdk/behaviours.json."""

import base64
import dataclasses
import hashlib
import hmac
import inspect
import time
import uuid
from datetime import datetime, timezone

import pytest

import generate
import retake
from retake import RetakeError, models, verify_webhook
from retake._ask import Stream, ask, checkpoint_id, pause
from retake._ed25519 import verify
from retake._wire import decode, encode, paths_of


def test_what_is_made_is_current():
    for path, text in generate.outputs().items():
        assert path.read_text() == text, f"{path.name} is old: run generate.py"


def test_both_clients_have_the_same_calls():
    def calls(kind):
        return {n: str(inspect.signature(f)).replace("Async", "") for n, f in inspect.getmembers(kind, inspect.isfunction) if n[0] != "_"}

    awaited = calls(retake.AsyncRetake)
    awaited["close"] = awaited.pop("aclose")
    assert awaited == calls(retake.Retake)
    assert len(awaited) > 60


def test_every_model_can_be_read_back():
    for name in models.__all__:
        kind = getattr(models, name)
        assert dataclasses.is_dataclass(kind)
        with pytest.raises(TypeError):
            decode(kind, 7)


def test_an_answer_may_grow_and_have_holes():
    raw = {"verdict": "passed", "name": "t", "number": 3, "as": 4, "new": {"x": 1}}
    answer = decode(models.Answer, raw)
    assert (answer.as_, answer.verdict, answer.was) == (4, "passed", None)
    assert encode(answer) == {"verdict": "passed", "name": "t", "as": 4}
    assert decode(models.Comparison, {"changes": None}).changes == []


def test_times_and_bytes():
    key = decode(models.Pin, {"checkpoint": "c", "name": "n", "number": 1, "time": "2026-01-02T03:04:05.123456789Z"})
    assert key.time == datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=timezone.utc)
    assert encode(key)["time"] == "2026-01-02T03:04:05.123456Z"
    change = decode(models.Change, {"path": "n?m", "path_raw": "bv9t", "what": "added"})
    assert change.path_raw == b"n\xffm"
    assert paths_of(["a", b"n\xffm"]) == {"paths": ["a", "n\ufffdm"], "paths_raw": [b"a", b"n\xffm"]}
    assert paths_of("a") == {"paths": ["a"], "paths_raw": None}


def test_addresses():
    assert ask("GET", "a", "b/c", "..", query={"x": "1 &", "y": b"\xff", "z": ["p", "q"], "n": None, "e": "", "t": True}).path == (
        "/v1/a/b%2Fc/%2E%2E?x=1%20%26&y=%FF&z=p&z=q&t=true"
    )
    with pytest.raises(RetakeError, match="empty"):
        ask("GET", "workspaces", "")


def test_only_deeds_have_a_key_of_their_own():
    a, b = ask("POST", "keys", body={}), ask("POST", "keys", body={})
    assert uuid.UUID(a.headers["Idempotency-Key"]) != uuid.UUID(b.headers["Idempotency-Key"])
    assert "Idempotency-Key" not in ask("GET", "keys").headers


def test_pauses_grow_and_differ():
    for tries in range(8):
        whole = min(0.1 * 2**tries, 5.0)
        waits = {pause(tries) for _ in range(50)}
        assert len(waits) > 1 and all(whole / 2 <= w <= whole for w in waits)
    assert pause(0, 7.0) == 7.0


def test_ids_are_of_version_7():
    id = checkpoint_id()
    made = uuid.UUID(id.removeprefix("cp_"))
    assert id.startswith("cp_") and made.version == 7 and made.variant == uuid.RFC_4122
    assert abs((made.int >> 80) / 1000 - time.time()) < 60


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_in_any_pieces(size):
    text = 'retry: 2000\n\n:\n\nid: 4\r\nevent: a\r\ndata: {"x":"\x85\u2028ü"}\r\n\r\ndata: no event\n\nid: 5\nevent: b\ndata: {}\n\nid: 6\n'.encode()
    stream = Stream()
    got = [e for i in range(0, len(text), size) for e in stream.feed(text[i : i + size])]
    assert got == [{"id": "4", "event": "a", "data": '{"x":"\x85\u2028ü"}'}, {"id": "5", "event": "b", "data": "{}"}]


# The first two of RFC 8032, 7.1.
KNOWN = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
]


@pytest.mark.parametrize("key, text, signature", KNOWN)
def test_known_signatures(key, text, signature):
    key, text, signature = map(bytes.fromhex, (key, text, signature))
    assert verify(key, text, signature)
    assert not verify(key, text + b"x", signature)
    assert not verify(key, text, signature[:-1])
    for i in (0, 31, 32, 63):
        assert not verify(key, text, signature[:i] + bytes([signature[i] ^ 1]) + signature[i + 1 :])
    order = 2**252 + 27742317777372353535851937790883648493
    twin = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not verify(key, text, signature[:32] + twin)
    assert not verify(b"\xff" * 32, text, signature)


def signed(secret: bytes, body: bytes, at: int, id: str = "msg_1") -> dict:
    tag = hmac.new(secret, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {"Webhook-Id": id, "Webhook-Timestamp": str(at), "Webhook-Signature": "v1,AAAA v1," + base64.b64encode(tag).decode()}


def test_messages_of_a_webhook():
    key, body, noon = b"k" * 32, b'{"type":"checkpoint.created"}', 1_700_000_000
    secret = "whsec_" + base64.b64encode(key).decode()
    good = signed(key, body, noon)
    for late in (-300, 0, 300):
        assert verify_webhook(secret, good, body, now=noon + late) == {"type": "checkpoint.created"}
    bad = {
        "late": (secret, good, body, noon + 301),
        "early": (secret, good, body, noon - 301),
        "body": (secret, good, body + b" ", noon),
        "id": (secret, {**good, "Webhook-Id": "msg_2"}, body, noon),
        "no id": (secret, {**good, "Webhook-Id": ""}, body, noon),
        "no time": (secret, {**good, "Webhook-Timestamp": "+1700000000"}, body, noon),
        "version": (secret, {**good, "Webhook-Signature": good["Webhook-Signature"].replace("v1,", "v2,")}, body, noon),
        "too many": (secret, {**good, "Webhook-Signature": "v1,AAAA " * 16 + good["Webhook-Signature"]}, body, noon),
        "nothing": (secret, {}, body, noon),
    }
    for name, (s, h, b, now) in bad.items():
        with pytest.raises(RetakeError) as e:
            verify_webhook(s, h, b, now=now)
        assert e.value.code == "invalid_signature", name
    for secret in ("", "whsec_AAAA", "whpk_AAAA", "whsec_" + "!" * 44):
        with pytest.raises(RetakeError) as e:
            verify_webhook(secret, good, body, now=noon)
        assert e.value.code == "invalid"


def test_nobody_there():
    with retake.Retake("http://127.0.0.1:9", "rtk_agent_x", retries=1, workspace="ws_1") as r:
        with pytest.raises(RetakeError) as e:
            r.save("x")
    assert (e.value.code, e.value.safe, e.value.retryable) == ("unavailable", "Nothing was changed.", True)
    assert "the server does not answer" in str(e.value)
