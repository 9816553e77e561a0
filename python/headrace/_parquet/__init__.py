"""Parquet files by pyarrow: what the engine reads of them, and how datasets are written to them."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["WrittenParquet", "write_parquet"]

if TYPE_CHECKING:
    from headrace._parquet.dataset_rows import WrittenParquet, write_parquet
else:
    __getattr__ = late_room(__name__, {"WrittenParquet": "dataset_rows", "write_parquet": "dataset_rows"})
