"""Column expressions: `hr.col("label") < 10` is a condition that the engine computes for each row."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from headrace import _engine
from headrace._arguments.options import text

__all__ = ["Expression", "col"]

Operand: TypeAlias = "Expression | bool | int | float | str"


class Expression:
    """A scalar computed from the scalar columns of a row.

    Built from `hr.col(name)`, numbers and texts by `<`, `<=`, `>`, `>=`, `==`, `!=`, `+`, `-`, `*`, `/`, `//`, `%`,
    `abs()`, `&` (and), `|` (or), `~` (not) and `.isin(values)`. Whole numbers wrap around in their column's type, as
    NumPy's do: of a uint8 of 250 `hr.col("x") + 10` is 4.
    """

    __slots__ = ("_bound",)
    __hash__ = None  # type: ignore[assignment]
    # Makes NumPy leave operators between its values and expressions to the methods below.
    __array_ufunc__ = None

    def __init__(self, bound: _engine.Expression) -> None:
        if not isinstance(bound, _engine.Expression):
            raise TypeError('an Expression is made from columns, such as headrace.col("label") < 10')
        self._bound = bound

    @property
    def columns(self) -> list[str]:
        """The columns that it reads, sorted."""
        return self._bound.columns()

    def isin(self, values: "Iterable[int] | Iterable[str]") -> "Expression":
        """Whether it equals one of `values`."""
        return Expression(_engine.Expression.call("in", self._bound, list(values)))

    def __lt__(self, other: Operand) -> "Expression":
        return _call("<", self, other)

    def __le__(self, other: Operand) -> "Expression":
        return _call("<=", self, other)

    def __gt__(self, other: Operand) -> "Expression":
        return _call(">", self, other)

    def __ge__(self, other: Operand) -> "Expression":
        return _call(">=", self, other)

    def __eq__(self, other: Operand) -> "Expression":  # type: ignore[override]
        return _call("==", self, other)

    def __ne__(self, other: Operand) -> "Expression":  # type: ignore[override]
        return _call("!=", self, other)

    def __add__(self, other: Operand) -> "Expression":
        return _call("+", self, other)

    def __radd__(self, other: Operand) -> "Expression":
        return _call("+", other, self)

    def __sub__(self, other: Operand) -> "Expression":
        return _call("-", self, other)

    def __rsub__(self, other: Operand) -> "Expression":
        return _call("-", other, self)

    def __mul__(self, other: Operand) -> "Expression":
        return _call("*", self, other)

    def __rmul__(self, other: Operand) -> "Expression":
        return _call("*", other, self)

    def __truediv__(self, other: Operand) -> "Expression":
        return _call("/", self, other)

    def __rtruediv__(self, other: Operand) -> "Expression":
        return _call("/", other, self)

    def __floordiv__(self, other: Operand) -> "Expression":
        return _call("//", self, other)

    def __rfloordiv__(self, other: Operand) -> "Expression":
        return _call("//", other, self)

    def __mod__(self, other: Operand) -> "Expression":
        return _call("%", self, other)

    def __rmod__(self, other: Operand) -> "Expression":
        return _call("%", other, self)

    def __and__(self, other: Operand) -> "Expression":
        return _call("and", self, other)

    def __rand__(self, other: Operand) -> "Expression":
        return _call("and", other, self)

    def __or__(self, other: Operand) -> "Expression":
        return _call("or", self, other)

    def __ror__(self, other: Operand) -> "Expression":
        return _call("or", other, self)

    def __invert__(self) -> "Expression":
        return _call("not", self)

    def __neg__(self) -> "Expression":
        return _call("neg", self)

    def __abs__(self) -> "Expression":
        return _call("abs", self)

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> NoReturn:
            advice = "" if name.startswith("_") else f", such as filter(lambda x: x.{name}(), columns)"
            raise AttributeError(
                f"a column expression has no {name}: it compares, computes, and has isin(values); write a function of "
                f"the columns{advice}",
                name=name,
            )

    def __len__(self) -> NoReturn:
        raise TypeError(
            "a column expression has no length before the pipeline runs; write a function of the columns, such as "
            "filter(lambda x: len(x) > 2, columns)"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a column expression has no truth value before the pipeline runs; "
            "use & for and, | for or, ~ for not, and write a < b < c as (a < b) & (b < c)"
        )

    def __repr__(self) -> str:
        return self._bound.text()


def _call(function: str, *operands: Operand) -> Expression:
    bound = [operand._bound if isinstance(operand, Expression) else operand for operand in operands]
    return Expression(_engine.Expression.call(function, *bound))


def col(name: str) -> Expression:
    """The column `name` in an expression, such as `ds.filter(hr.col("label") < 10)`."""
    return Expression(_engine.Expression.column(text("a column's name", name, "col")))
