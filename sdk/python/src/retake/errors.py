"""The one exception."""

from __future__ import annotations

from typing import Optional

from . import models
from ._wire import decode

UNCHANGED = "Nothing was changed."
UNCERTAIN = "It is not certain whether it was done; earlier checkpoints are intact."


class RetakeError(Exception):
    """What did not work, whether anything was changed, and what to do next.

    Branch on ``code``; kinds are added, never changed.
    """

    def __init__(
        self,
        code: str,
        what: str,
        *,
        safe: str = "",
        hint: str = "",
        next_steps: Optional[list[str]] = None,
        request_id: str = "",
        cause: str = "",
        status: int = 0,
        retryable: bool = False,
        plan: Optional[models.Plan] = None,
    ) -> None:
        super().__init__(code, what)
        self.code = code
        self.what = what
        self.safe = safe
        self.hint = hint
        self.next_steps = next_steps or []
        self.request_id = request_id
        self.cause = cause
        self.status = status
        self.retryable = retryable
        self.plan = plan

    def __str__(self) -> str:
        return ". ".join(t.rstrip(".") for t in (self.what, self.cause, self.safe, self.hint) if t)

    @classmethod
    def of(cls, problem: dict) -> RetakeError:
        """The error that a problem of the server is."""
        plan = problem.get("plan")
        return cls(
            problem["code"],
            problem.get("what", ""),
            safe=problem.get("safe", ""),
            hint=problem.get("hint", ""),
            next_steps=problem.get("next_steps"),
            request_id=problem.get("request_id", ""),
            cause=problem.get("cause", ""),
            status=problem.get("status", 0),
            retryable=problem.get("retryable", False),
            plan=decode(models.Plan, plan) if plan else None,
        )
