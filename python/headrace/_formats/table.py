"""`FORMATS`: all formats that are read, in the order in which a file is compared with them."""

from headrace._formats.entries.arrays import NPY, NPZ
from headrace._formats.entries.arrow import ARROW
from headrace._formats.entries.lmdb import LMDB
from headrace._formats.entries.mds import MDS
from headrace._formats.entries.mind_record import MIND_RECORD
from headrace._formats.entries.parquet import PARQUET
from headrace._formats.entries.pictures import CLASS_FOLDERS, IMAGES, WITH_METADATA
from headrace._formats.entries.record_io import IMAGE_RECORD, RECORD_IO
from headrace._formats.entries.saved_graph import SAVED_GRAPH
from headrace._formats.entries.tar import TAR
from headrace._formats.entries.texts import CSV, IMAGE_LIST, JSON_LINES, LIB_SVM, TEXT
from headrace._formats.entries.tf_record import TF_RECORD

__all__ = ["FORMATS"]

FORMATS = (
    IMAGE_RECORD,
    RECORD_IO,
    MIND_RECORD,
    TF_RECORD,
    TAR,
    PARQUET,
    ARROW,
    NPY,
    NPZ,
    MDS,
    LMDB,
    WITH_METADATA,
    CLASS_FOLDERS,
    IMAGES,
    SAVED_GRAPH,
    IMAGE_LIST,
    LIB_SVM,
    JSON_LINES,
    CSV,
    TEXT,
)
