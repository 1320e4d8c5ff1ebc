"""The client."""

from .history import AsyncHistory
from .office import AsyncOffice


class AsyncRetake(AsyncHistory, AsyncOffice):
    """A server of Retake, as one key sees it.

    It keeps idle connections and the id of the default workspace, and reads neither the environment nor any file.
    """
