"""Retake: checkpoints that an agent can go back to.

    r = Retake(url, key)
    cp = r.save("before the migration")
    r.restore(cp.id)
"""

from . import models
from ._async.client import AsyncRetake
from ._sync.client import Retake
from .errors import RetakeError
from .webhooks import verify_webhook

__version__ = "0.1.0"
__all__ = ["AsyncRetake", "Retake", "RetakeError", "models", "verify_webhook"]
