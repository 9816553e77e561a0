"""Tables and streams of other libraries by the Arrow C data interface, as attributes of the operator Arrow."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import path, shown, text, texts
from headrace._datasets.base import Base, source
from headrace._datasets.fields.arrow_choices import ArrowField, by_column, named_classes, tensor_shapes, with_names
from headrace._datasets.fields.arrow_schema import feature_classes
from headrace._datasets.fields.class_columns import occurring_names
from headrace._datasets.fields.fixed_arrays import with_fixed_arrays
from headrace._files.system_error import saying
from headrace._graph import reference
from headrace.errors import DataError, Error, GraphError

__all__ = ["HeldArrow", "arrow_again", "arrow_attributes", "fill_bytes"]

_OF = "Arrow"


def arrow_attributes(given: Any, columns: Any, classes: Any, missing: Any, root: Any) -> dict[str, Any]:
    """Those of the operator; `given` is taken now, and if it is a table, all of it."""
    data = _taken(given)
    fields = {each.name: each for each in (ArrowField(*values) for values in data.fields())}
    named = _all_named(given, named_classes(classes, fields, _OF), fields, by_column(missing, _OF))
    known = feature_classes(data.metadata(), _OF) | named
    fills = {
        name: fill_bytes(value, fields.get(name), known.get(name), _OF)
        for name, value in by_column(missing, _OF).items()
    }
    chosen = None if columns is None else texts("columns", columns, _OF)
    with saying(_OF):
        data.read(chosen, tensor_shapes(fields, chosen, _OF), with_names(named, fields), fills)
    names = {column for column, _, _ in data.columns}
    class_names = {name: each for name, each in known.items() if name in names} | data.classes
    return {
        "data": reference.arrow(data, type(given)),
        "columns": _engine.Columns(data.columns),
        "rows": data.rows,
        "root": "" if root is None else path("root", root, _OF),
        "class_names": {name: json.dumps(each) for name, each in class_names.items()} or None,
        "fills": {name: json.dumps(value.decode("latin-1")) for name, value in fills.items()} or None,
        "units": data.units or None,
    }


def _all_named(
    given: Any,
    classes: Mapping[str, list[str] | None],
    fields: Mapping[str, ArrowField],
    missing: Mapping[str, Any],
) -> dict[str, list[str]]:
    """With the names that occur, sorted, of columns whose names are not given."""
    known = {name: names for name, names in classes.items() if names is not None}
    for name in classes:
        if name in known:
            continue
        what = f'{_OF}: classes["{name}"] is None'
        if not _checked(given):
            raise GraphError(
                f"{what}, and the rows of a stream come once, so which names occur is not known; give a list"
            )
        if name not in fields:
            raise GraphError(f"{what}, and there is no such column ({', '.join(fields)})")
        if fields[name].dictionary:
            raise GraphError(
                f"{what}, and the column is a dictionary, which has names of its own; leave it out of classes"
            )
        fills = {column: value for column, value in missing.items() if column == name}
        rows = source(_OF, arrow_attributes(given, [name], None, fills, None))
        known |= occurring_names(rows, [name], _OF)
    return known


def arrow_again(given: Any, attributes: Mapping[str, Any], columns: Sequence[str]) -> _engine.ArrowData:
    """Data for a graph that was made of other data, read as that was."""
    data = _taken(given)
    fields = {each.name: each for each in (ArrowField(*values) for values in data.fields())}
    class_names = {name: json.loads(each) for name, each in (attributes.get("class_names") or {}).items()}
    fills = {name: json.loads(each).encode("latin-1") for name, each in (attributes.get("fills") or {}).items()}
    with saying(_OF):
        data.read(list(columns), tensor_shapes(fields, columns, _OF), with_names(class_names, fields), fills)
    return data


class HeldArrow(_engine.ArrowData):
    """Data, with the table that it was taken of, for pickles."""

    def __init__(self, given: Any, table: bool) -> None:
        try:
            super().__init__(with_fixed_arrays(given) if table else given, table)
        except (Error, MemoryError):
            raise
        except Exception as error:
            # As of pandas, which finds out what a column of objects holds when it is asked for it.
            raise DataError(f"{_OF}: this {type(given).__name__} cannot be given as Arrow: {error}") from error
        # A table of pandas shares nothing with the data; it is not kept alive for pickles alone.
        apart = type(given).__module__.partition(".")[0] == "pandas"
        self._given = None if not table else weakref.ref(given) if apart else (lambda: given)

    def given(self) -> Any:
        """None: it is a stream, or a table that is gone."""
        return None if self._given is None else self._given()

    def stands_for(self, given: Any) -> None:
        """The pickle of the table is that of another object, which becomes such a table."""
        self._given = lambda: given


def _taken(given: Any) -> HeldArrow:
    return HeldArrow(given, _checked(given))


def _checked(given: Any) -> bool:
    """Whether it is a table; GraphError for what shares nothing by Arrow."""
    kind = type(given)
    if isinstance(given, type):
        raise GraphError(f"{_OF}: {given.__name__} is a class; give an object of it")
    if isinstance(given, Base):
        raise GraphError(f"{_OF}: this {kind.__name__} is a headrace.Dataset already; use it as it is")
    if isinstance(given, (str, bytes, os.PathLike)):
        raise GraphError(
            f"{_OF}: data is {shown(given)}; a path is opened by a library, such as pyarrow.ipc.open_file(path).read_all()"
        )
    if hasattr(given, "__arrow_c_stream__"):
        return hasattr(given, "__len__")
    if hasattr(given, "__arrow_c_array__"):
        return True
    if isinstance(given, Iterator):
        return False
    if kind.__name__ == "LazyFrame":
        raise GraphError(f"{_OF}: data is a LazyFrame, which has no rows yet; give what its method collect() returns")
    if isinstance(given, dict):
        raise GraphError(f"{_OF}: data is a dict; give it to pyarrow.table, or its arrays to hr.Numpy")
    if any(each.__module__.partition(".")[0] == "datasets" for each in kind.__mro__):
        raise GraphError(f"{_OF}: data is a {kind.__name__} of Hugging Face's library; write hr.from_huggingface")
    if callable(getattr(given, "to_table", None)):
        # As a dataset or a scanner of pyarrow.
        stream = "to_reader()" if hasattr(given, "to_reader") else "scanner().to_reader()"
        raise GraphError(
            f"{_OF}: data is a {kind.__name__}, whose rows are still to be read; give what its method to_table() returns, "
            f"or for a stream {stream}; hr.Parquet reads files of Parquet"
        )
    raise GraphError(
        f"{_OF}: data is of the class {kind.__name__}, which has neither __arrow_c_stream__ nor __arrow_c_array__; give a "
        "table of pyarrow, polars, DuckDB or pandas, or another object with one of them, or an iterator of record batches"
    )


# ---- values for what is missing ----


def fill_bytes(value: Any, field: Any, classes: Sequence[str] | None, of: str) -> bytes:
    """The bytes of one element of the column, or of a byte string. None: there is no such column, or none of its
    type, as the engine will say."""
    if field is None or (field.dtype == "unknown" and classes is None):
        return b""
    if field.list and isinstance(value, (list, tuple)) and len(value) == 0:
        return b""
    if isinstance(value, str):
        if classes is not None and value in classes:
            return classes.index(value).to_bytes(8, "little")
        if field.dtype == "string" and classes is None:
            return text(f'missing["{field.name}"]', value, of).encode()
        if field.dictionary and classes is None:
            raise GraphError(
                f'{of}: missing["{field.name}"] is {shown(value)}, and the column is a dictionary; give the number of a class, '
                f'or the names of all, too: classes={{"{field.name}": […]}}'
            )
    elif isinstance(value, (bytes, bytearray, memoryview)):
        if field.dtype == "bytes":
            return bytes(value)
    elif field.dtype not in ("string", "bytes", "unknown") or classes is not None:
        return _number_bytes(value, "int64" if classes is not None else field.dtype, field.name, of)
    raise _unfit(value, field.dtype, field.name, of)


def _number_bytes(value: Any, dtype: str, name: str, of: str) -> bytes:
    import numpy as np

    made = np.asarray(value)
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}[np.dtype(dtype).kind]
    if made.shape != () or made.dtype.kind not in kinds:
        raise _unfit(value, dtype, name, of)
    with np.errstate(over="ignore", invalid="ignore"):
        fill = made.astype(dtype)
    if np.dtype(dtype).kind != "f" and int(fill) != int(made):
        raise _unfit(value, dtype, name, of)
    return fill.tobytes()


def _unfit(value: Any, dtype: str, name: str, of: str) -> GraphError:
    return GraphError(f'{of}: missing["{name}"] is {shown(value)}, which a column of {dtype} does not hold')
