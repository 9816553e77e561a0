"""RecordIO files as `mxnet.recordio` reads and writes them, byte for byte: scripts run with the import changed.

Errors are Headrace's, with the file and the byte. A file that is written gets its name when it is closed; until then
its records are in a draft beside it, `<uri>.draft`. `docs/records.md` has the format."""

import numbers
import os
import struct
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace import _engine, vision
from headrace._arguments import options
from headrace._files.places import is_far
from headrace._files.system_error import saying, system_error
from headrace._files.whole_file import read_whole
from headrace._kernels.kernel import Kernel
from headrace._records.image_payload import is_rounded
from headrace.errors import ClosedError, DataError, GraphError, NotFoundError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]

_HEADER = struct.Struct("<IfQQ")
# Of a whole number of 64 bits.
_MOST_DIGITS = 20


class MXRecordIO:
    """Reads or writes the records of a RecordIO file, one after the other.

    A reader may be pickled, and the copy begins at the first record. After a fork, parent and child each go on from
    where the reader was. A writer belongs to the process that opened it.

    Example:
        >>> record = mx.recordio.MXRecordIO("test.rec", "w")
        >>> for i in range(5):
        ...     record.write(b"record_%d" % i)
        >>> record.close()

    Args:
        uri: The file.
        flag: "r" reads, "w" writes a new file.
    """

    writable: bool

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.uri = options.file_path("uri", uri, type(self).__name__)
        self.flag = flag
        self.pid: int | None = None
        self.is_open = False
        self.open()

    def open(self) -> None:
        """Opens the file, at its first record; a new, empty one if it is written. Closes it before if it is open.

        Raises:
            GraphError: The flag is neither "r" nor "w".
            NotFoundError: The file is not there, or may not be read or written.
            UnsupportedError: Another writer is writing the file.
        """
        if self.flag not in ("r", "w"):
            raise GraphError(f'flag is "r", to read, or "w", to write; got {self.flag!r}')
        self.close()
        self.writable = self.flag == "w"
        if self.writable:
            self._writing = _Writing(self.uri)
            # Closes files that were left open, also at the end of the process.
            self._closer = weakref.finalize(self, self._writing.close)
        else:
            self._reader = _engine.RecordReader(os.fsencode(self.uri))
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Closes the file; one that was written gets its name now. Does nothing if it is closed.

        Raises:
            ResourceError: The disk is full. The file that had the name before keeps it.
        """
        if not self.is_open:
            return
        self.is_open = False
        self.pid = None
        if self.writable:
            self._closer.detach()
            self._writing.close()
            del self._writing, self._closer
        else:
            del self._reader

    def reset(self) -> None:
        """Goes back to the first record. A file that is written is begun anew, empty."""
        if self.is_open and self.writable:
            self._discard()
        self.open()

    def write(self, buf: bytes) -> None:
        """Appends a record: bytes, or whatever has their interface, of less than 512 MiB.

        Raises:
            DataError: The record is too long.
            ResourceError: The disk is full.
            UnsupportedError: The file is read, or another process opened it.
        """
        self._open_for(writing=True).append(buf)

    def read(self) -> bytes | None:
        """The next record; None at the end of the file.

        Raises:
            DataError: The file is damaged there.
            UnsupportedError: The file is written.
        """
        self._check(writing=False)
        found = self._reader.read()
        return None if found is None else bytes(found[1])

    def tell(self) -> int:
        """The byte of the file at which the next record begins."""
        self._check(writing=None)
        return self._writing.offset if self.writable else self._reader.offset

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        """Closes the file. After an exception one that was written is dropped: half a file gets no name."""
        if kind is not None and self.is_open and self.writable:
            self._discard()
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.is_open and self.writable:
            raise UnsupportedError(f"{self.uri} is being written, and its writer cannot be pickled; close it first")
        return {name: value for name, value in self.__dict__.items() if name not in ("_reader", "pid")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.pid = None
        if self.is_open:
            self.is_open = False
            self.open()

    def _discard(self) -> None:
        """Drops what was written."""
        self.is_open = False
        self._closer.detach()
        self._writing.discard()
        del self._writing, self._closer

    def _check(self, writing: bool | None) -> None:
        if not self.is_open:
            raise ClosedError(f"{self.uri} is closed; open() opens it again")
        if writing is not None and writing != self.writable:
            done, asked = ("written", "read") if self.writable else ("read", "written")
            raise UnsupportedError(
                f'{self.uri} was opened with flag="{self.flag}": it is {done}, and cannot be {asked}'
            )

    def _open_for(self, writing: bool) -> "_Writing":
        self._check(writing)
        return self._writing


class MXIndexedRecordIO(MXRecordIO):
    """Reads or writes the records of a RecordIO file by their keys, of which an index says where they are.

    Example:
        >>> record = mx.recordio.MXIndexedRecordIO("test.idx", "test.rec", "w")
        >>> for i in range(5):
        ...     record.write_idx(i, b"record_%d" % i)
        >>> record.close()
        >>> record = mx.recordio.MXIndexedRecordIO("test.idx", "test.rec", "r")
        >>> record.read_idx(3)
        b'record_3'

    Args:
        idx_path: The index: lines of a key, a tab, and the byte at which its record begins.
        uri: The file of records.
        flag: "r" reads, "w" writes a new file and its index.
        key_type: Makes a key of a text of the index; what it gives is a key of `idx`.
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = options.file_path("idx_path", idx_path, type(self).__name__)
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        # By process: in a forked child nobody would release its parent's lock.
        self._turns: dict[int, Any] = {}
        super().__init__(uri, flag)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_turns"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._turns = {}
        super().__setstate__(state)

    def open(self) -> None:
        """As `MXRecordIO.open`. Reads the index.

        Raises:
            DataError: A line of the index is not a key and an offset; names the line.
            NotFoundError: The index or the file is not there, or may not be read or written.
        """
        super().open()
        self.idx = {}
        self.keys = []
        if self.writable:
            self._writing.index_path = self.idx_path
            folder = os.path.dirname(self.idx_path) or "."
            if not is_far(folder) and not os.path.isdir(folder):
                self._discard()
                raise NotFoundError(f"cannot write {self.idx_path}: there is no folder {folder}")
            return
        try:
            self._read_index()
        except BaseException:
            self.close()
            raise

    def seek(self, idx: Any) -> None:
        """Goes to the record of a key, which `read` then gives.

        Raises:
            KeyError: The index has no such key.
        """
        self._check(writing=False)
        self._reader.seek(self.idx[idx])

    def read_idx(self, idx: Any) -> bytes:
        """The record of a key. Several threads may call it.

        Raises:
            DataError: No record begins where the index says, or the record is damaged.
            KeyError: The index has no such key.
        """
        # Threads take turns, as each moves the one position of the reader.
        with self._turns.setdefault(os.getpid(), threading.RLock()):
            self.seek(idx)
            found = self.read()
        if found is None:
            raise DataError(
                f"{self.idx_path} says that record {idx!r} is at byte {self.idx[idx]} of {self.uri}, which ends before"
            )
        return found

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Appends a record under a key.

        Raises:
            DataError: The record is too long, or the key has a tab or a line end.
        """
        key = self.key_type(idx)
        text = str(key)
        if not text or text.strip() != text or "\t" in text or len(text.splitlines()) != 1:
            raise DataError(f"a key of an index is a text without tabs and line ends; got {text!r}")
        try:
            _bytes_of(text)
        except UnicodeEncodeError:
            raise DataError(f"a key of an index is a text that UTF-8 can hold; got {text!r}") from None
        writing = self._open_for(writing=True)
        offset = writing.append(buf)
        writing.index.append((text, offset))
        self.idx[key] = offset
        self.keys.append(key)

    def _read_index(self) -> None:
        try:
            text = read_whole(self.idx_path)
        except OSError as raised:
            raise system_error(f"cannot read {self.idx_path}", raised) from None
        for key_text, offset, line in _engine.parse_record_index(text, os.fsencode(self.idx_path)):
            try:
                # Whole numbers of any length may all have one hash.
                if self.key_type is int and len(key_text) > _MOST_DIGITS:
                    raise ValueError("a whole number has at most 64 bits")
                key = self.key_type(key_text)
            except ValueError as raised:
                raise DataError(f"{self.idx_path}, line {line}: {key_text!r} is no key: {raised}") from None
            self.idx[key] = offset
            self.keys.append(key)


class _Writing:
    """A file that is being written, and its index, if it has one, which gets its name after the file's."""

    def __init__(self, uri: str) -> None:
        self._writer = _engine.RecordWriter(os.fsencode(uri))
        self._pid = os.getpid()
        self.index_path: str | None = None
        self.index: list[tuple[str, int]] = []

    @property
    def offset(self) -> int:
        return self._writer.offset

    def append(self, payload: bytes) -> int:
        return self._writer.append([payload])

    def discard(self) -> None:
        if os.getpid() == self._pid:
            self._writer.discard()

    def close(self) -> None:
        # A forked child has a copy of the parent's.
        if os.getpid() != self._pid:
            return
        try:
            if self.index_path is None:
                self._writer.commit()
            else:
                self._commit_with(self.index_path)
        except BaseException:
            self._writer.discard()
            raise

    def _commit_with(self, index_path: str) -> None:
        text = "".join(f"{key}\t{offset}\n" for key, offset in self.index)
        with saying(f"cannot write {index_path}"):
            index = _engine.OutputStream(os.fsencode(index_path))
        try:
            index.append([_bytes_of(text)])
            index.seal()
            self._writer.seal()
            # An old index beside new records would lead into the middle of them.
            _engine.remove_file(os.fsencode(index_path))
            self._writer.commit()
            index.commit()
        except BaseException:
            index.discard()
            raise


def _bytes_of(text: str) -> bytes:
    """Of a key that came from other bytes than UTF-8, these."""
    return text.encode("utf-8", "surrogateescape")


class IRHeader(NamedTuple):
    """What is known of the image in a record.

    Attributes:
        flag: The number of labels after the header; 0: the label is in the header. `pack` sets it.
        label: A number, or an array of float32.
        id: The number of the image, a whole number below 2^64.
        id2: A second one, usually 0.
    """

    flag: int
    label: float | ArrayLike
    id: int
    id2: int


def pack(header: IRHeader | Iterable[Any], s: bytes) -> bytes:
    """A record of a header and the bytes of an encoded image.

    Args:
        header: Its label is a number, or numbers, which are stored as float32, with a warning where that rounds a whole
            number; its flag is not used.
        s: The image, or any other bytes.

    Raises:
        DataError: The header holds something else.
    """
    header = IRHeader(*header)
    labels = b""
    if isinstance(header.label, numbers.Number):
        _warn_of_rounded([header.label])
        header = header._replace(flag=0)
    else:
        array = np.asarray(header.label, dtype=np.float32)
        _warn_of_rounded(np.asarray(header.label).reshape(-1).tolist() if np.any(abs(array) >= 1 << 24) else [])
        header = header._replace(flag=array.size, label=0)
        labels = array.tobytes()
    try:
        return _HEADER.pack(*header) + labels + s
    except (struct.error, OverflowError) as raised:
        raise DataError(
            f"a header holds a label of float32 and whole numbers from 0 to 2^64 - 1: {raised}; got {header}"
        ) from None


def _warn_of_rounded(labels: Iterable[Any]) -> None:
    """MXNet rounds without a word."""
    for label in labels:
        if isinstance(label, numbers.Integral):
            label = int(label)
        elif isinstance(label, numbers.Real):
            label = float(label)
        else:
            continue
        if is_rounded(label):
            text = (
                f"pack: the label {label} is a whole number that float32, the type of labels, does not hold, and is "
                "rounded; number the classes from 0, or keep such numbers in id"
            )
            warnings.warn(_engine.printable(text), RuntimeWarning, stacklevel=3)


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """The header of an image record, and the bytes of its image. Its label is a float, or an array of float32.

    Raises:
        DataError: The record is shorter than its header, or than the labels that its header claims.
    """
    if len(s) < _HEADER.size:
        raise DataError(f"an image record begins with a header of {_HEADER.size} bytes, and this record has {len(s)}")
    header = IRHeader(*_HEADER.unpack_from(s))
    rest = s[_HEADER.size :]
    if header.flag == 0:
        return header, rest
    if len(rest) < 4 * header.flag:
        raise DataError(f"the header of a record claims {header.flag} labels, and {len(rest)} bytes follow it")
    return header._replace(label=np.frombuffer(rest, np.float32, header.flag)), rest[4 * header.flag :]


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, NDArray[Any]]:
    """The header of an image record, and its image as OpenCV decodes it: (H, W, 3) in the order blue, green, red, or
    (H, W) if it is grey, uint8.

    Args:
        s: The record.
        iscolor: -1 gives what the file holds, with 4 channels, alpha last, if it has alpha; 0 grey; 1 colour. 0 and 1
            turn the image as its EXIF orientation says. Of 16 bits the higher 8 are kept.

    Raises:
        DataError: The record, or the image in it, is damaged or neither JPEG nor PNG.
    """
    header, encoded = unpack(s)
    if iscolor not in (-1, 0, 1):
        raise GraphError(f"iscolor is -1 (as the file is), 0 (grey) or 1 (colour); got {iscolor!r}")
    if iscolor == -1:
        decode = vision.Decode(mode="any")
    else:
        decode = vision.Decode(mode="RGB" if iscolor else "L", orientation=True)
    return header, _channels_swapped(_run(decode, encoded))


def pack_img(header: IRHeader | Iterable[Any], img: ArrayLike, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record of a header and an image, which is encoded as OpenCV does.

    Args:
        header: As for `pack`.
        img: uint8 of shape (H, W, 3) in the order blue, green, red, or (H, W) or (H, W, 1); for PNG also (H, W, 4).
        quality: Of a JPEG, 1 to 100; of a PNG the compression, 0 to 9 (greater numbers count as 9).
        img_fmt: ".jpg", ".jpeg" or ".png", in any case.

    Raises:
        GraphError: The array is no such image, or the format another one.
    """
    kind = img_fmt.lower()
    encode: Kernel
    if kind in (".jpg", ".jpeg"):
        encode = vision.EncodeJpeg(quality=min(max(int(quality), 1), 100))
    elif kind == ".png":
        encode = vision.EncodePng(compression=min(max(int(quality), 0), 9))
    else:
        raise GraphError(f'img_fmt is ".jpg" or ".png"; got {img_fmt!r}')
    encoded: bytes = _run(encode, _channels_swapped(np.asarray(img)))
    return pack(header, encoded)


def _run(kernel: Kernel, value: Any) -> Any:
    return _engine.run_kernel(type(kernel).__name__, dict(kernel._attributes), value)


def _channels_swapped(image: NDArray[Any]) -> NDArray[Any]:
    """Between red first and blue first, either way; without the axis of one channel."""
    if image.ndim != 3:
        return image
    if image.shape[2] == 1:
        return image[:, :, 0]
    return np.ascontiguousarray(image[:, :, [2, 1, 0, *range(3, image.shape[2])]])
