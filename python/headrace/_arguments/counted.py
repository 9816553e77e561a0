"""`counted` writes a number of things: "1 row", "2,000 rows"."""

__all__ = ["counted"]


def counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
