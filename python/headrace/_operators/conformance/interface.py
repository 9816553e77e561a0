"""The structures of plugin/headrace_plugin.h for ctypes: those of version 1.1."""

import ctypes as c
from typing import Any, TypeVar

ABI = 0x10001
MOST_AXES = 32
# As the header numbers them. bfloat16, which NumPy lacks, is held as uint16.
DTYPES = {
    1: "bool",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "uint8",
    7: "uint16",
    8: "uint32",
    9: "uint64",
    10: "float16",
    11: "bfloat16",
    12: "float32",
    13: "float64",
    14: "bytes",
    15: "string",
}
NUMBER_OF_DTYPE = {name: number for number, name in DTYPES.items()}
RESULTS = ("no error", "DataError", "NotFoundError", "GraphError", "ResourceError", "UnsupportedError", "FunctionError")
OK, DATA_ERROR, GRAPH_ERROR, RESOURCE_ERROR, FUNCTION_ERROR = 0, 1, 3, 4, 6
RANDOM, NOT_DETERMINISTIC, BY_BATCH, POINTWISE = 1, 2, 4, 8
NULLABLE, HAS_MINIMUM, HAS_MAXIMUM, EXCLUSIVE_MINIMUM, BROADCAST = 1, 2, 4, 8, 16
BOOL, INT, FLOAT, TEXT, INTS, FLOATS, TEXTS, DTYPE = range(1, 9)


class Tensor(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("dtype", c.c_int32),
        ("axes", c.c_int32),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("reserved", c.c_uint32),
        ("data", c.c_void_p),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("bytes", c.c_uint64),
        ("offsets", c.POINTER(c.c_int64)),
    ]


class Type(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("dtype", c.c_int32),
        ("axes", c.c_int32),
        ("reserved", c.c_uint32),
        ("shape", c.c_int64 * MOST_AXES),
    ]


class Attribute(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("type", c.c_int32),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("default_value", c.c_char_p),
        ("flags", c.c_uint64),
        ("minimum", c.c_double),
        ("maximum", c.c_double),
        ("integer_minimum", c.c_int64),
        ("integer_maximum", c.c_int64),
        ("choices", c.POINTER(c.c_char_p)),
        ("lengths", c.POINTER(c.c_int32)),
    ]


class Value(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("type", c.c_int32),
        ("none", c.c_int32),
        ("count", c.c_uint32),
        ("integer", c.c_int64),
        ("real", c.c_double),
        ("text", c.c_char_p),
        ("ints", c.POINTER(c.c_int64)),
        ("reals", c.POINTER(c.c_double)),
        ("texts", c.POINTER(c.c_char_p)),
    ]


class Identity(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("stream", c.c_uint64),
        ("key", c.c_uint64),
    ]


class Rows(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("count", c.c_uint64),
        ("fingerprint", c.c_uint64),
    ]


# The call and the file, which are numbers here.
_CALL = c.c_void_p
_FILE = c.c_void_p
_SHAPE = c.POINTER(c.c_int64)
HOST_FUNCTIONS: dict[str, Any] = {
    "fail": c.CFUNCTYPE(c.c_int32, _CALL, c.c_int32, c.c_char_p),
    "allocate": c.CFUNCTYPE(c.c_int32, _CALL, c.c_uint32, c.c_int32, c.c_int32, _SHAPE, c.POINTER(c.c_void_p)),
    "give_strings": c.CFUNCTYPE(
        c.c_int32, _CALL, c.c_uint32, c.c_int32, c.c_int32, _SHAPE, c.c_void_p, c.c_uint64, _SHAPE
    ),
    "give_input": c.CFUNCTYPE(c.c_int32, _CALL, c.c_uint32, c.c_uint32),
    "random_bits": c.CFUNCTYPE(c.c_int32, _CALL, c.POINTER(c.c_uint32), c.c_uint64),
    "random_uniform": c.CFUNCTYPE(c.c_int32, _CALL, c.POINTER(c.c_double), c.c_uint64),
    "random_below": c.CFUNCTYPE(c.c_int32, _CALL, c.c_uint64, c.POINTER(c.c_uint64), c.c_uint64),
    "random_normal": c.CFUNCTYPE(c.c_int32, _CALL, c.POINTER(c.c_double), c.c_uint64),
    "identity": c.CFUNCTYPE(c.c_int32, _CALL, c.POINTER(Identity)),
    "fillers": c.CFUNCTYPE(c.c_int32, _CALL, c.POINTER(c.c_void_p), c.POINTER(c.c_uint64)),
    "stopped": c.CFUNCTYPE(c.c_int32, _CALL),
    "add_column": c.CFUNCTYPE(c.c_int32, _CALL, c.c_char_p, c.c_int32, c.c_int32, _SHAPE),
    "begin_row": c.CFUNCTYPE(c.c_int32, _CALL, c.c_int64, c.c_int64),
    "file_size": c.CFUNCTYPE(c.c_int32, _CALL, _FILE, c.POINTER(c.c_int64)),
    "read_file": c.CFUNCTYPE(c.c_int32, _CALL, _FILE, c.c_int64, c.c_uint64, c.c_void_p),
    "find_note": c.CFUNCTYPE(c.c_int32, _CALL, c.c_char_p, c.POINTER(c.c_void_p), c.POINTER(c.c_uint64)),
    "leave_note": c.CFUNCTYPE(c.c_int32, _CALL, c.c_char_p, c.c_void_p, c.c_uint64, c.c_int32),
    "count_note": c.CFUNCTYPE(c.c_int32, _CALL),
}


class Host(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("abi", c.c_uint32),
        *HOST_FUNCTIONS.items(),
        # For functions of later versions: none.
        ("later", c.c_void_p * 64),
    ]


_VALUES = c.POINTER(c.POINTER(Value))
_TYPES = c.POINTER(c.POINTER(Type))
INFER = c.CFUNCTYPE(c.c_int32, _CALL, _VALUES, _TYPES, c.c_uint32, _TYPES)
CREATE = c.CFUNCTYPE(c.c_int32, _CALL, _VALUES, c.POINTER(c.c_void_p))
DESTROY = c.CFUNCTYPE(None, c.c_void_p)
APPLY = c.CFUNCTYPE(c.c_int32, _CALL, c.c_void_p, c.POINTER(c.POINTER(Tensor)), c.c_uint32)


class Kernel(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("version", c.c_uint32),
        ("name", c.c_char_p),
        ("summary", c.c_char_p),
        ("doc", c.c_char_p),
        ("example", c.c_char_p),
        ("least_inputs", c.c_uint32),
        ("most_inputs", c.c_uint32),
        ("outputs", c.c_uint32),
        ("reserved", c.c_uint32),
        ("traits", c.c_uint64),
        ("attributes", c.POINTER(c.c_void_p)),
        ("infer", INFER),
        ("create", CREATE),
        ("destroy", DESTROY),
        ("apply", APPLY),
    ]


COLUMNS = c.CFUNCTYPE(c.c_int32, _CALL, _VALUES)
OPEN_SOURCE = c.CFUNCTYPE(c.c_int32, _CALL, _VALUES, c.POINTER(c.c_void_p), c.POINTER(Rows))
READ = c.CFUNCTYPE(c.c_int32, _CALL, c.c_void_p, c.c_uint64)
FIND = c.CFUNCTYPE(c.c_int32, _CALL, c.c_void_p, _FILE, c.c_int64, c.POINTER(c.c_int64))
OPEN_FILE = c.CFUNCTYPE(c.c_int32, _CALL, c.c_void_p, _FILE, c.c_int64, c.c_int64, c.POINTER(c.c_void_p))
NEXT = c.CFUNCTYPE(c.c_int32, _CALL, c.c_void_p, _FILE)

# What sources and formats begin with.
_DECLARED: list[Any] = [
    ("struct_size", c.c_uint32),
    ("version", c.c_uint32),
    ("name", c.c_char_p),
    ("summary", c.c_char_p),
    ("doc", c.c_char_p),
    ("example", c.c_char_p),
    ("traits", c.c_uint64),
    ("attributes", c.POINTER(c.c_void_p)),
    ("columns", COLUMNS),
]


class Source(c.Structure):
    _fields_ = [*_DECLARED, ("open", OPEN_SOURCE), ("destroy", DESTROY), ("read", READ)]


class Format(c.Structure):
    _fields_ = [
        *_DECLARED,
        ("create", CREATE),
        ("destroy", DESTROY),
        ("find", FIND),
        ("open", OPEN_FILE),
        ("next", NEXT),
        ("close", DESTROY),
    ]


class Plugin(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("name", c.c_char_p),
        ("version", c.c_char_p),
        ("doc", c.c_char_p),
        ("kernels", c.POINTER(c.c_void_p)),
        ("sources", c.POINTER(c.c_void_p)),
        ("formats", c.POINTER(c.c_void_p)),
    ]


QUERY = c.CFUNCTYPE(c.c_int32, c.c_uint32, c.POINTER(Host), _CALL, c.POINTER(c.c_void_p))

_Struct = TypeVar("_Struct", Attribute, Kernel, Source, Format, Plugin)


def read(kind: type[_Struct], address: int) -> _Struct:
    """A copy of the plugin's structure; what it is too short for is zero."""
    made = kind()
    size = c.c_uint32.from_address(address).value
    c.memmove(c.addressof(made), address, min(size, c.sizeof(made)))
    return made


def read_all(kind: type[_Struct], sequence: Any) -> list[_Struct]:
    """Copies of what the pointers of a sequence, which ends with NULL, point to."""
    found: list[_Struct] = []
    while sequence and sequence[len(found)]:
        found.append(read(kind, sequence[len(found)]))
    return found
