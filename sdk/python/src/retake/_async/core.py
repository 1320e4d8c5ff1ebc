"""Sends requests until they are answered, or may not be sent again."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Optional, TypeVar

import httpx

from .. import models
from .._ask import PAGE, Ask, Trouble, ask, lost, pause, refused
from .._wire import decode
from ..errors import UNCERTAIN, RetakeError

Self = TypeVar("Self", bound="AsyncCore")


class AsyncCore:
    """A server, a key and, for what is of a workspace, which one."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        workspace: Optional[str] = None,
        retries: int = 5,
        timeout: float = 300.0,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """workspace: an id; without one it is the default one of the namespace. retries: how often a
        request is sent again. timeout: seconds without a byte of an answer. http: a client of your own,
        for proxies and certificates."""
        self._url = url.rstrip("/")
        self._key = key
        self._retries = retries
        self._timeout = timeout
        self._mine = http is None
        self._http = http or httpx.AsyncClient()
        self._workspace = workspace

    async def aclose(self) -> None:
        """Gives connections back. A client of your own stays open."""
        if self._mine:
            await self._http.aclose()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def workspace(self: Self, id: str) -> Self:
        """The same server and key, for another workspace. It shares the connections."""
        return type(self)(self._url, self._key, workspace=id, retries=self._retries, timeout=self._timeout, http=self._http)

    async def _at(self, *parts: str) -> tuple[str, ...]:
        if self._workspace is None:
            self._workspace = (await self._call(models.Namespace, ask("GET", "namespace"))).default
        return ("workspaces", self._workspace, *parts)

    async def _call(self, kind: Any, a: Ask) -> Any:
        """The answer as a value of kind."""
        return understood(kind, await self._json(a))

    async def _list(self, kind: Any, name: str, a: Ask) -> list:
        """The list under a name of the answer."""
        return understood(list[kind], (await self._json(a)).get(name))

    async def _json(self, a: Ask) -> Any:
        answer = await self._send(a)
        try:
            return answer.json()
        except ValueError as e:
            raise not_understood(e) from e

    async def _pages(self, kind: Any, *parts: str, limit: Optional[int] = None, page: int = PAGE, **query: Any) -> AsyncIterator[Any]:
        """The elements of a list, which is fetched in parts as they are needed."""
        cursor, left = "", limit
        while left is None or left > 0:
            size = page if left is None else min(page, left)
            answer = await self._json(ask("GET", *parts, query={**query, "limit": size, "cursor": cursor}))
            for v in understood(list[kind], answer.get("data")):
                yield v
                left = None if left is None else left - 1
            cursor = answer.get("next_cursor", "")
            if not cursor:
                return

    async def _drop(self, a: Ask) -> None:
        """Ends something. Not found after a lost answer: it said that it is gone."""
        try:
            await self._send(a)
        except RetakeError as e:
            if not a.doubt or e.code not in ("not_found", "not-found"):
                raise

    async def _send(self, a: Ask, *, whole: bool = True) -> httpx.Response:
        tries = 0
        while True:
            try:
                return await self._once(a, whole)
            except Trouble as t:
                a.doubt = a.doubt or t.lost and t.sent
                if tries >= self._retries or not a.may_again(t):
                    raise a.told(t) from t.__cause__
                wait = pause(tries, t.after)
            await asyncio.sleep(wait)
            tries += 1

    async def _once(self, a: Ask, whole: bool) -> httpx.Response:
        headers = {**a.headers, "Authorization": f"Bearer {self._key}"}
        timeout = httpx.Timeout(self._timeout, connect=min(self._timeout, 10.0), read=a.quiet or self._timeout)
        request = self._http.build_request(a.method, self._url + a.path, headers=headers, content=a.body, timeout=timeout)
        try:
            answer = await self._http.send(request, stream=True, follow_redirects=False)
            try:
                if answer.is_success and not whole:
                    return answer
                await answer.aread()
            except BaseException:
                await answer.aclose()
                raise
        except httpx.TransportError as e:
            raise lost(e) from e
        if not answer.is_success:
            raise refused(answer)
        return answer

    async def _chunks(self, a: Ask) -> AsyncIterator[bytes]:
        """Bytes as they come. A good end is told from a bad one by the connection."""
        a.headers["Accept"] = "*/*"
        answer = await self._send(a, whole=False)
        try:
            async for chunk in answer.aiter_bytes():
                yield chunk
        except httpx.TransportError as e:
            raise RetakeError("unavailable", "the bytes broke off", hint="try again", cause=str(e), retryable=True) from e
        finally:
            await answer.aclose()


def understood(kind: Any, value: Any) -> Any:
    try:
        return decode(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise not_understood(e) from e


def not_understood(e: Exception) -> RetakeError:
    return RetakeError("internal", "the answer is not understood", safe=UNCERTAIN, cause=str(e))
