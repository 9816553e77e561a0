"""Iterators over batches, as `mxnet.io` has them."""

from headrace.mx.io.csv_iter import CSVIter
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.data_iter import DataIter
from headrace.mx.io.image_record_iter import ImageRecordInt8Iter, ImageRecordIter, ImageRecordUInt8Iter
from headrace.mx.io.mnist_iter import MNISTIter
from headrace.mx.io.nd_array_iter import NDArrayIter
from headrace.mx.io.prefetching_iter import PrefetchingIter
from headrace.mx.io.resize_iter import ResizeIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
    "MNISTIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]
