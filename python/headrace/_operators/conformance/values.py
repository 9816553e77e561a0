"""Types of columns, and values of them to give to kernels. Values follow from type and seed alone."""

import dataclasses
import math

import numpy as np

UNKNOWN = -1


@dataclasses.dataclass(frozen=True)
class ColumnType:
    """A dtype by name, "" if it is not known, and a shape: None if not known, with -1 for lengths that are not."""

    dtype: str
    shape: tuple[int, ...] | None

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype or 'unknown'} of any shape"
        lengths = ", ".join("?" if length == UNKNOWN else str(length) for length in self.shape)
        return f"{self.dtype or 'unknown'} ({lengths}{',' if len(self.shape) == 1 else ''})"

    def takes(self, made: "ColumnType") -> bool:
        """Whether a row of the type `made`, which is known fully, fits it."""
        if self.dtype not in ("", made.dtype):
            return False
        if self.shape is None or made.shape is None:
            return self.shape is None
        return len(self.shape) == len(made.shape) and all(
            length in (UNKNOWN, other) for length, other in zip(self.shape, made.shape, strict=True)
        )


Types = tuple[ColumnType, ...]


def shown(types: Types) -> str:
    return ", ".join(map(str, types))


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor: of numbers an array, of bytes and strings one `bytes` for each element."""

    type: ColumnType
    array: np.ndarray | None
    strings: tuple[bytes, ...] = ()

    @property
    def contents(self) -> bytes:
        return b"".join(self.strings) if self.array is None else self.array.tobytes()


def is_text(dtype: str) -> bool:
    return dtype in ("bytes", "string")


def numpy_dtype(dtype: str) -> np.dtype:
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def drawn(column: ColumnType, seed: int) -> Value:
    """Ordinary contents: images' bytes, small whole numbers, normal numbers, words."""
    assert column.shape is not None
    generator = np.random.default_rng([seed, *column.dtype.encode()])
    elements = math.prod(column.shape)
    if is_text(column.dtype):
        words = ["wheel", "water", "mill", "7", "ä"] if column.dtype == "string" else ["wheel", "\0\x01", "ÿ"]
        counts = generator.integers(1, 5, elements)
        texts = (" ".join(generator.choice(words, int(count))) for count in counts)
        return Value(column, None, tuple(text.encode() for text in texts))
    return Value(column, _numbers(column.dtype, column.shape, generator))


def _numbers(dtype: str, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype == "bfloat16":
        return (generator.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype.startswith("float"):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(0, 256 if dtype == "uint8" else 8, shape).astype(dtype)


def constant(column: ColumnType, which: str) -> Value:
    """Every element the least or the greatest of its dtype, zero, NaN, infinite, or an empty or a long string."""
    assert column.shape is not None
    if is_text(column.dtype):
        return Value(column, None, (b"" if which == "zero" else b"x" * 5000,) * math.prod(column.shape))
    numbers = np.zeros(column.shape, numpy_dtype(column.dtype))
    if which != "zero":
        numbers[...] = _extreme(column.dtype, which)
    return Value(column, numbers)


def _extreme(dtype: str, which: str) -> float | int | bool:
    if dtype == "bool":
        return which != "least"
    if dtype == "bfloat16":
        return {"least": 0xFF7F, "greatest": 0x7F7F, "NaN": 0x7FC0, "infinite": 0x7F80}[which]
    if not dtype.startswith("float"):
        limits = np.iinfo(dtype)
        return int(limits.min if which == "least" else limits.max)
    return {
        "least": float(np.finfo(dtype).min),
        "greatest": float(np.finfo(dtype).max),
        "NaN": math.nan,
        "infinite": math.inf,
    }[which]


def extremes_of(dtype: str) -> tuple[str, ...]:
    if is_text(dtype):
        return ("zero", "greatest")
    floats = ("NaN", "infinite") if dtype.startswith(("float", "bfloat")) else ()
    return ("zero", "least", "greatest", *floats)
