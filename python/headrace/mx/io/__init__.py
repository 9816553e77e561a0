"""Iterators over batches, as `mxnet.io` has them."""

from typing import TYPE_CHECKING

from headrace.mx.absent import no_name
from headrace.mx.io.csv_iter import CSVIter
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import DataIter
from headrace.mx.io.image_det_record_iter import ImageDetRecordIter
from headrace.mx.io.image_record_iter import ImageRecordInt8Iter, ImageRecordIter, ImageRecordUInt8Iter
from headrace.mx.io.lib_svm_iter import LibSVMIter
from headrace.mx.io.mnist_iter import MNISTIter
from headrace.mx.io.nd_array_iter import NDArrayIter
from headrace.mx.io.prefetching_iter import PrefetchingIter
from headrace.mx.io.resize_iter import ResizeIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
    "LibSVMIter",
    "MNISTIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
