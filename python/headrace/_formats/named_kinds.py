"""`kind_named` knows kinds of files that no source reads, by their first bytes and names, and says what to write instead."""

import os
import re

__all__ = ["kind_named"]

_LIST = "list images with hr.ImageFolder, hr.Files or hr.Manifest"
_ARRAYS = "give its arrays to hr.Numpy"
_PICKLE = "unpickling may run any code, so no source does it: load it where you trust it, and give arrays to hr.Numpy or rows to hr.from_dataset"
_SOUND = "read its bytes with hr.Files, and decode them in map"
# Where the bytes stand, the bytes, the kind, and what to write.
_KINDS: list[tuple[int, bytes, str, str]] = [
    (0, b"GIF87a", "GIF", _LIST),
    (0, b"GIF89a", "GIF", _LIST),
    (0, b"BM", "BMP", _LIST),
    (0, b"II*\0", "TIFF", _LIST),
    (0, b"MM\0*", "TIFF", _LIST),
    (8, b"WEBP", "WebP", _LIST),
    (8, b"WAVE", "WAVE sound", _SOUND),
    (8, b"AVI ", "AVI video", _SOUND),
    (0, b"fLaC", "FLAC sound", _SOUND),
    (0, b"OggS", "Ogg sound", _SOUND),
    (0, b"ID3", "MP3 sound", _SOUND),
    (4, b"ftyp", "MP4 video", _SOUND),
    (0, b"\x1a\x45\xdf\xa3", "Matroska or WebM video", _SOUND),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file", f"read it with scipy.io.loadmat, and {_ARRAYS}"),
    (0, b"SIMPLE  =", "FITS", f"read it with astropy, and {_ARRAYS}"),
    (128, b"DICM", "DICOM", f"read it with pydicom, and {_ARRAYS}"),
    (344, b"n+1\0", "NIfTI", f"read it with nibabel, and {_ARRAYS}"),
    (0, b"CDF\x01", "NetCDF", f"read it with xarray, and {_ARRAYS}"),
    (0, b"CDF\x02", "NetCDF", f"read it with xarray, and {_ARRAYS}"),
    (0, b"\x12\x01\0\0\0\0\0\0", "arrays of MXNet", f"read it with headrace.mx.nd.load, and {_ARRAYS}"),
    (0, b"FEA1", "Feather of version 1", "read it with pyarrow.feather, and give the table to hr.Arrow"),
    (0, b"Obj\x01", "Avro", "read it with fastavro, and give the rows to hr.Generator"),
    (0, b"GGUF", "GGUF weights", "a model's weights are no rows"),
    (0, b"Rar!\x1a\x07", "RAR", "unpack it first"),
]
# The type and the axes of what MNIST's publishers call IDX.
_IDX = re.compile(rb"\0\0[\x08\x09\x0b\x0c\x0d\x0e][\x01-\x04]\0", re.DOTALL)
_PICKLED = re.compile(rb"\x80[\x02-\x05][\x58\x7d\x5d\x8a\x8c\x95\x63\x28]", re.DOTALL)
_ENDINGS = {
    ".beton": ("FFCV", "read it with ffcv, and give its loader to hr.Generator"),
    ".mds": ("a shard of an MDS data set", "open the folder that has its index.json"),
}


def kind_named(head: bytes, path: str) -> tuple[str, str] | None:
    """What it is, and what to do with it; None: it is not one of these."""
    for at, begin, kind, advice in _KINDS:
        if head.startswith(begin, at) and not (kind == "BMP" and head[6:10] != bytes(4)):
            return kind, advice
    if head[8:9] == b"{" and b'"data_offsets"' in head:
        return "safetensors", f"read it with safetensors.numpy.load_file, and {_ARRAYS}"
    if head.startswith(b"PK\x03\x04"):
        return _zipped(head)
    if _IDX.match(head):
        return (
            "IDX, the format of MNIST's files",
            "open the set with headrace.datasets.MNIST, or read it with headrace.mx.io.MNISTIter",
        )
    if _PICKLED.match(head):
        return "a pickle", _PICKLE
    return _ENDINGS.get(os.path.splitext(path)[1].lower())


def _zipped(head: bytes) -> tuple[str, str] | None:
    """By the name of the first member. None: any zip."""
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if name.endswith(b".npy"):
        return "NumPy .npz", "read it with hr.Npz"
    if name.endswith((b"data.pkl", b"/version", b"/.format_version")):
        return "PyTorch's zip of a pickle", _PICKLE
    if name in (b"[Content_Types].xml", b"_rels/.rels") or name.startswith(b"xl/"):
        return (
            "a spreadsheet or document of Office",
            "read it with pandas, and give the table to hr.Numpy or hr.Manifest",
        )
    return None
