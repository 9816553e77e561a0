"""`np`: NumPy, imported when it is first used. Modules that importing headrace imports, and that need NumPy in many
places, take it from here, for importing NumPy takes longer than all of them."""

from typing import TYPE_CHECKING, Any

from headrace._arguments.import_folder import import_late

__all__ = ["np"]


class _LateNumPy:
    def __getattr__(self, name: str) -> Any:
        numpy = import_late("numpy")
        # Further names are found without a call.
        self.__dict__.update(vars(numpy))
        return getattr(numpy, name)


if TYPE_CHECKING:
    import numpy as np
else:
    np = _LateNumPy()
