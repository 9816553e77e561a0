"""`Described` says the class and the arguments of an augmenter as JSON: the base of those with objects and without."""

import json
from typing import Any

import numpy as np

__all__ = ["Described"]


class Described:
    """Keeps what an augmenter was made with.

    Args:
        kwargs: What `dumps()` says of it; arrays become lists.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {name: each.tolist() if isinstance(each, np.ndarray) else each for name, each in kwargs.items()}

    def dumps(self) -> Any:
        """Its class and its arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])
