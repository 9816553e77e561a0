"""`Explanation`: the text that `explain()` gives."""

from headrace._arguments.markup import markup

__all__ = ["Explanation"]


class Explanation(str):
    """A text of several lines, which a notebook shows as they are."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{markup(self)}</pre>"
