"""`pyarrow` and its modules that decode and write Parquet, imported when they are first needed."""

from typing import Any

from headrace._arguments.import_folder import import_late
from headrace.errors import UnsupportedError

__all__ = ["check_pyarrow", "pyarrow", "pyarrow_dataset", "pyarrow_parquet"]


def check_pyarrow(of: str) -> None:
    """Raises UnsupportedError, for the call `of`, where pyarrow is not installed or cannot be imported."""
    try:
        pyarrow_parquet()
        pyarrow_dataset()
    except ModuleNotFoundError:
        raise UnsupportedError(f"{of} needs pyarrow, which is not installed here: pip install pyarrow") from None
    except ImportError as error:
        raise UnsupportedError(f"{of} needs pyarrow, which cannot be imported: {error}") from error


def pyarrow() -> Any:
    return import_late("pyarrow")


def pyarrow_parquet() -> Any:
    return import_late("pyarrow.parquet")


def pyarrow_dataset() -> Any:
    return import_late("pyarrow.dataset")
