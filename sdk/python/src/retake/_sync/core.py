# Made by sdk/python/generate.py from _async/core.py. Do not edit.
"""Sends requests until they are answered, or may not be sent again."""

from __future__ import annotations

import time
from typing import Any, Iterator, Optional, TypeVar

import httpx

from .. import models
from .._ask import PAGE, Ask, Trouble, ask, lost, pause, refused
from .._wire import decode
from ..errors import UNCERTAIN, RetakeError

Self = TypeVar("Self", bound="Core")


class Core:
    """A server, a key and, for what is of a workspace, which one."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        workspace: Optional[str] = None,
        retries: int = 5,
        timeout: float = 300.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        """workspace: an id; without one it is the default one of the namespace. retries: how often a
        request is sent again. timeout: seconds without a byte of an answer. http: a client of your own,
        for proxies and certificates."""
        self._url = url.rstrip("/")
        self._key = key
        self._retries = retries
        self._timeout = timeout
        self._mine = http is None
        self._http = http or httpx.Client()
        self._workspace = workspace

    def close(self) -> None:
        """Gives connections back. A client of your own stays open."""
        if self._mine:
            self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def workspace(self: Self, id: str) -> Self:
        """The same server and key, for another workspace. It shares the connections."""
        return type(self)(self._url, self._key, workspace=id, retries=self._retries, timeout=self._timeout, http=self._http)

    def _at(self, *parts: str) -> tuple[str, ...]:
        if self._workspace is None:
            self._workspace = (self._call(models.Namespace, ask("GET", "namespace"))).default
        return ("workspaces", self._workspace, *parts)

    def _call(self, kind: Any, a: Ask) -> Any:
        """The answer as a value of kind."""
        return understood(kind, self._json(a))

    def _list(self, kind: Any, name: str, a: Ask) -> list:
        """The list under a name of the answer."""
        return understood(list[kind], (self._json(a)).get(name))

    def _json(self, a: Ask) -> Any:
        answer = self._send(a)
        try:
            return answer.json()
        except ValueError as e:
            raise not_understood(e) from e

    def _pages(self, kind: Any, *parts: str, limit: Optional[int] = None, page: int = PAGE, **query: Any) -> Iterator[Any]:
        """The elements of a list, which is fetched in parts as they are needed."""
        cursor, left = "", limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            answer = self._json(ask("GET", *parts, query={**query, "limit": size, "cursor": cursor}))
            for v in understood(list[kind], answer.get("data")):
                yield v
                left = None if left is None else left - 1
            cursor = answer.get("next_cursor", "")
            if not cursor:
                return

    def _drop(self, a: Ask) -> None:
        """Ends something. Not found after a lost answer: it said that it is gone."""
        try:
            self._send(a)
        except RetakeError as e:
            if not a.doubt or e.code not in ("not_found", "not-found"):
                raise

    def _send(self, a: Ask, *, whole: bool = True) -> httpx.Response:
        tries = 0
        while True:
            try:
                return self._once(a, whole)
            except Trouble as t:
                a.doubt = a.doubt or t.lost and t.sent
                if tries >= self._retries or not a.may_again(t):
                    raise a.told(t) from t.__cause__
                wait = pause(tries, t.after)
            time.sleep(wait)
            tries += 1

    def _once(self, a: Ask, whole: bool) -> httpx.Response:
        headers = {**a.headers, "Authorization": f"Bearer {self._key}"}
        timeout = httpx.Timeout(self._timeout, connect=min(self._timeout, 10.0), read=a.quiet or self._timeout)
        request = self._http.build_request(a.method, self._url + a.path, headers=headers, content=a.body, timeout=timeout)
        try:
            answer = self._http.send(request, stream=True, follow_redirects=False)
            try:
                if answer.is_success and not whole:
                    return answer
                answer.read()
            except BaseException:
                answer.close()
                raise
        except httpx.TransportError as e:
            raise lost(e) from e
        if not answer.is_success:
            raise refused(answer)
        return answer

    def _chunks(self, a: Ask) -> Iterator[bytes]:
        """Bytes as they come. A good end is told from a bad one by the connection."""
        a.headers["Accept"] = "*/*"
        answer = self._send(a, whole=False)
        try:
            for chunk in answer.iter_bytes():
                yield chunk
        except httpx.TransportError as e:
            raise RetakeError("unavailable", "the bytes broke off", hint="try again", cause=str(e), retryable=True) from e
        finally:
            answer.close()


def understood(kind: Any, value: Any) -> Any:
    try:
        return decode(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise not_understood(e) from e


def not_understood(e: Exception) -> RetakeError:
    return RetakeError("internal", "the answer is not understood", safe=UNCERTAIN, cause=str(e))
