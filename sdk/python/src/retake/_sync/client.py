# Made by sdk/python/generate.py from _async/client.py. Do not edit.
"""The client."""

from .history import History
from .office import Office


class Retake(History, Office):
    """A server of Retake, as one key sees it.

    It keeps idle connections and the id of the default workspace, and reads neither the environment nor any file.
    """
