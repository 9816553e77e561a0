"""`member_head` makes the headers of a file in a tar archive (ustar; PAX where it holds too little)."""

__all__ = ["BLOCK", "member_head"]

BLOCK = 512
_NAME = 100
_PREFIX = 155
# Of the octal digits of a header.
_MOST_BYTES = 8**11 - 1
# As WebDataset's writers name it, so that archives do not tell who wrote them.
_OWNER = b"bigdata"


def member_head(name: bytes, size: int) -> bytes:
    """The blocks in front of its data. Equal names and sizes have equal headers: the time is 1970."""
    split = _split(name)
    records = b""
    if split is None:
        if not _is_utf8(name):
            records += _record(b"hdrcharset", b"BINARY")
        records += _record(b"path", name)
    if size > _MOST_BYTES:
        records += _record(b"size", b"%d" % size)
    head = _head(*(split or (b"", name[:_NAME])), min(size, _MOST_BYTES), b"0")
    if not records:
        return head
    return _head(b"", b"./PaxHeaders", len(records), b"x") + records + bytes(-len(records) % BLOCK) + head


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """The prefix and the name of a header; None: they do not hold it."""
    if len(name) <= _NAME:
        return b"", name
    at = name.find(b"/", len(name) - _NAME - 1)
    if at <= 0 or at > _PREFIX or at + 1 == len(name):
        return None
    return name[:at], name[at + 1 :]


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _record(key: bytes, value: bytes) -> bytes:
    """With its own length in front, digits included."""
    rest = len(key) + len(value) + 3
    length = rest + 1
    while rest + len(b"%d" % length) != length:
        length += 1
    return b"%d %s=%s\n" % (length, key, value)


def _head(prefix: bytes, name: bytes, size: int, kind: bytes) -> bytes:
    fields = [
        name.ljust(_NAME, b"\0"),
        b"0000444\0",
        b"0000000\0" * 2,
        b"%011o\0" % size,
        b"%011o\0" % 0,
        b" " * 8,
        kind,
        bytes(100),
        b"ustar\0" + b"00",
        _OWNER.ljust(32, b"\0") * 2,
        b"0000000\0" * 2,
        prefix.ljust(_PREFIX, b"\0"),
        bytes(12),
    ]
    head = b"".join(fields)
    return head[:148] + b"%06o\0 " % sum(head) + head[156:]
