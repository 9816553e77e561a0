"""`markup` writes a text into HTML. The standard library's module for it takes long to load."""

__all__ = ["markup"]


def markup(text: str) -> str:
    """The text as the content of an element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
