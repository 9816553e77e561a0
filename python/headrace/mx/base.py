"""Names of `mxnet.base` that loading scripts use: the error, and the types of numbers and texts."""

import numpy as np

from headrace.errors import Error

__all__ = ["MXNetError", "integer_types", "numeric_types", "string_types"]

MXNetError = Error
"""What MXNet's functions raise: every error of Headrace is one."""

integer_types = (int, np.int32, np.int64)
numeric_types = (float, int, np.generic)
string_types = (str,)
