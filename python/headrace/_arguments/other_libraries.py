"""Advice for error messages: what to write instead of the names that users of other libraries know."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from headrace._arguments import augmentation_names, table_names
from headrace._arguments.storage import guarded
from headrace._arguments.suggestions import did_you_mean
from headrace.errors import GraphError

__all__ = [
    "advise",
    "advise_init",
    "advised",
    "class_advice",
    "iterator_advice",
    "loader_advice",
    "method_advice",
    "source_advice",
    "unknown_keyword",
]

_Class = TypeVar("_Class", bound=type)

_READ_AHEAD = "leave it out: a pipeline reads ahead by itself, as far as iterate(memory=…) allows"
_WORKERS = (
    "leave it out: all stages share the cores, and reads are outstanding as disks need; map(…, workers=…) caps a stage, "
    "iterate(workers=…) all of them"
)
_ITERATE = "iterate over the dataset itself: for batch in dataset"
_SIZE = "write len(dataset)"
_SCHEMA = "write schema, which is not a method"
_RANKS = "write iterate(shard=(rank, world))"
_DEVICE = 'leave it out: to_device("cuda:0") sends batches ahead, from memory that the device copies from'
_FIRST = "write next(iter(dataset))"
_LABELS = 'write [int(row["label"]) for row in dataset.project("label")], which reads no pictures'
_TRANSFORM = "write it as a map, as in map([V.Decode(), V.Resize((8, 8))], columns), with kernels of headrace.vision or functions"
_EPOCHS = "write repeat(count), or loop over the dataset once for each epoch"
_SEED = "leave it out: each epoch has an order of its own, which the seed and the epoch determine"

_RESUMED = "write iterate(state=state), with what it.state() gave"
_FACTOR = "it is called factor"
_FUNCTION = "write a Python function in map"
_ARRAYS = (
    'leave it out: V.Decode() gives arrays, V.HWC2CHW() moves their channels, and options(as_="torch") gives tensors'
)
_FLOATS = "write V.ToFloat() for values of 0 … 1, and V.HWC2CHW() for channels first"

_METHODS = table_names.METHODS | {
    "cpu": "leave it out: batches are in host memory unless to_device sends them",
    "cuda": 'write to_device("cuda:0")',
    "numpy": 'leave it out: batches hold NumPy arrays, and tensors with options(as_="torch")',
    "to": 'write to_device("cuda:0") for a device, map(T.TypeCast(dtype), column) for another type',
    "prefetch": _READ_AHEAD,
    "padded_batch": "write batch(size, pad=True)",
    "ragged_batch": 'write batch(size, ragged="splits")',
    "concatenate": "write concat(other)",
    "enumerate": "write hr.Range(len(dataset)).zip(dataset)",
    "add_sampler": "write sample(…), as in sample(hr.Weighted(weights))",
    "use_sampler": "write sample(…), as in sample(hr.Weighted(weights))",
    "rejection_resample": "write sample(hr.ClassBalanced(labels)), or sample(hr.Weighted(weights))",
    "random_split": "write split([0.8, 0.2], seed=0)",
    "train_test_split": "write split([0.8, 0.2], seed=0)",
    "shard": "write iterate(shard=(rank, world))",
    "as_numpy_iterator": _ITERATE,
    "create_dict_iterator": _ITERATE,
    "create_tuple_iterator": _ITERATE,
    "get_dataset_size": _SIZE,
    "cardinality": _SIZE,
    "element_spec": _SCHEMA,
    "output_shapes": _SCHEMA,
    "output_types": _SCHEMA,
    "apply": "write function(dataset)",
    "bucket_by_sequence_length": "write bucket_by_length(column, boundaries, batch_sizes)",
    "bucket_batch_by_length": "write bucket_by_length(column, boundaries, batch_sizes)",
    "set_epoch": "write dataset.epoch = epoch, or iterate(epoch=epoch)",
    "state": "write it = iter(dataset), and then it.state()",
    "state_dict": "write it = iter(dataset), and then it.state(); headrace.torch.Loader has state_dict()",
    "load_state_dict": "write iterate(state=state); headrace.torch.Loader has load_state_dict()",
    "load_state": _RESUMED,
    "set_state": _RESUMED,
    "from_state": _RESUMED,
    "restore": _RESUMED,
    "resume": _RESUMED,
    "shape": _SCHEMA,
    "dtype": _SCHEMA,
    "columns": _SCHEMA,
    "features": _SCHEMA,
    "column_names": _SCHEMA,
    "class_names": "write classes",
    "num_classes": "write len(dataset.classes)",
    "get_class_indexing": "write class_to_idx",
    "get_col_names": _SCHEMA,
    "targets": _LABELS,
    "samples": _LABELS,
    "imgs": _LABELS,
    "as_tuple": "write options(as_tuple=True)",
    "next": _FIRST,
    "get_single_element": _FIRST,
    "reset": "write iter(dataset), which runs the next epoch",
    "make_one_shot_iterator": "write iter(dataset)",
    "make_initializable_iterator": "write iter(dataset)",
    "ignore_errors": 'write on_error("skip")',
    "reduce": "write a loop over the dataset, or statistics(column) for means, deviations and ranges",
    "snapshot": "write cache(directory=…)",
    "sparse_batch": 'write batch(size, ragged="splits")',
    "with_options": "write options(…)",
    "prefetch_to_device": 'write to_device("cuda:0")',
    "transform": _TRANSFORM,
    "target_transform": _TRANSFORM,
    "transforms": _TRANSFORM,
    "batch_size": "write batch(size); headrace.torch.Loader has batch_size",
    "collate_fn": "write batch(size, function=…), which gets the columns as lists of rows",
    "drop_last": "write batch(size, drop_remainder=True)",
    "batch_sampler": "write sample(…) for the order, and batch(size)",
    "sampler": "write sample(…), as in sample(hr.Weighted(weights))",
    "pin_memory": _DEVICE,
    "prefetch_factor": _READ_AHEAD,
    "worker_init_fn": "write map(function, columns, processes=…, worker_init=…)",
    "num_workers": _WORKERS,
    "num_parallel_workers": _WORKERS,
    "persistent_workers": _WORKERS,
    "multiprocessing_context": _WORKERS,
}

_KEYWORDS = (
    augmentation_names.KEYWORDS
    | table_names.KEYWORDS
    | {
        "prob": "the chance of a kernel is called p",
        "label_type": 'write map(T.TypeCast("int64"), column)',
        "num_parallel_calls": _WORKERS,
        "num_parallel_workers": _WORKERS,
        "num_workers": _WORKERS,
        "num_threads": _WORKERS,
        "max_rowsize": _WORKERS,
        "persistent_workers": _WORKERS,
        "prefetch_factor": _READ_AHEAD,
        "buffer_size": "the number of rows to mix is called window: shuffle(window=…)",
        "reshuffle_each_iteration": _SEED,
        "deterministic": "leave it out: results never depend on timing",
        "batch_size": "the number of rows is called size: batch(size=…)",
        "drop_last": "it is called drop_remainder: batch(size, drop_remainder=True)",
        "collate_fn": "write batch(size, function=…), which gets the columns as lists of rows; pad=True alone joins rows "
        'that differ in shape, and ragged="list" gives lists of them',
        "per_batch_map": "it is called function: batch(size, function=…)",
        "batch_sampler": "write sample(…) for the order, and batch(size), where size may be a function of the batch",
        "processes": "worker processes are for Python functions of map and for datasets of from_dataset: "
        "map(function, columns, processes=…), hr.from_dataset(dataset, processes=…)",
        "input_columns": "it is called columns: map(kernels, columns=…)",
        "output_columns": "it is called output: map(kernels, columns, output=…)",
        "operations": "it is called kernels: map(kernels=…)",
        "map_func": "it is called kernels: map(kernels=…)",
        "cycle_length": "it is called cycle: interleave(function, cycle=…)",
        "block_length": "it is called block: interleave(function, cycle=…, block=…)",
        "bucket_boundaries": "it is called boundaries: bucket_by_length(column, boundaries, batch_sizes)",
        "bucket_batch_sizes": "it is called batch_sizes: bucket_by_length(column, boundaries, batch_sizes)",
        "pad_to_bucket_boundary": 'write bucket_by_length(…, pad="boundary")',
        "window_size": "it is called size: group_by_window(key, size, function)",
        "num_epochs": _EPOCHS,
        "epochs": _EPOCHS,
        "num_shards": _RANKS,
        "shard_id": _RANKS,
        "rank": _RANKS,
        "world_size": _RANKS,
        "num_replicas": _RANKS,
        "pin_memory": _DEVICE,
        "pin_memory_device": _DEVICE,
        "timeout": "write iterate(stall_warning=seconds), after which a call that hangs is named on stderr",
        "worker_init_fn": "it is called worker_init: map(function, columns, processes=…, worker_init=…), and so in "
        "hr.from_dataset",
        "multiprocessing_context": "leave it out: processes=… of map and hr.from_dataset starts processes anew, and never "
        "forks",
        "generator": "write with_seed(seed), or seed=… of the source",
        "in_order": "leave it out: rows always come in order",
        "shuffle": "write shuffle=True in the source, or shuffle(window), a method",
        "transform": _TRANSFORM,
        "target_transform": _TRANSFORM,
        "transforms": "it is called kernels, and branches in RandomChoice; it comes first and needs no name",
        "padding_mode": "it is called mode",
        "inplace": "leave it out: nothing that a kernel gets is changed",
        "num_output_channels": "it is called output_channels",
        "sharpness_factor": _FACTOR,
        "labels_getter": 'leave it out: map names columns, as in map(V.MixUp(…), ["image", "label"]), and with boxes '
        'hr.boxes("boxes", labels="label")',
        "sep": "it is called delimiter: hr.Csv(patterns, delimiter=…)",
        "on_error": 'write dataset.on_error("skip"), which holds for the whole pipeline',
        "sampler": "write shuffle=True in the source, or sample(…), as in sample(hr.Weighted(weights)); for chosen rows "
        "select(indices)",
    }
)

_CLASSES = augmentation_names.CLASSES | {
    "AutoAugmentPolicy": 'policies are texts, as in V.AutoAugment("cifar10")',
    "ClampBoundingBoxes": "it is called ClampBoxes",
    "ClampKeyPoints": "it is called ClampKeypoints",
    "ConvertBoundingBoxFormat": "it is called ConvertBoxFormat",
    "ConvertImageDtype": _FLOATS,
    "Identity": "leave it out",
    "InterpolationMode": 'interpolations are texts, as in V.Resize(256, "bicubic")',
    "Lambda": "write the function itself in map, also in a list of kernels",
    "PILToTensor": _ARRAYS,
    "RGB": 'write V.ConvertColor("GRAY", "RGB") for images of one channel; V.Decode() gives three',
    "SanitizeBoundingBoxes": "it is called SanitizeBoxes",
    "SanitizeKeyPoints": "it is called SanitizeKeypoints",
    "SetClampingMode": "leave it out: boxes end at their image",
    "ToDtype": f'{_FLOATS}, or T.TypeCast("float32") for values as they are',
    "ToImage": _ARRAYS,
    "ToPILImage": "write PIL.Image.fromarray(image); called with a PIL image, a kernel gives one",
    "ToPureTensor": _ARRAYS,
    "ToTensor": _FLOATS,
    "Transform": _FUNCTION,
    "UniformTemporalSubsample": _FUNCTION,
}


_LOADER = "write headrace.torch.Loader(dataset, batch_size=…)"
_OBJECTS = "write hr.from_dataset(dataset) over an object that gives rows by number"
_JSON = "it is called JsonLines"
_NUMPY = "it is called Numpy: hr.Numpy({name: array})"
_OWN_SEED = "write dataset.with_seed(seed)"
_OF_RANKS = "leave it out: headrace.torch.Loader gives each rank its rows, and so does iterate(shard=(rank, world))"
_PREPARATION = "write hr.from_processor(config), with the pretrained_cfg of a model of timm"
_PICTURES = "write hr.ImageFolder(root).map(kernels, columns).batch(size)"
_OF_LIGHTNING = "write Lightning's own, whose train_dataloader gives a headrace.torch.Loader"
_SOURCES = table_names.SOURCES | {
    "DataLoader": _LOADER,
    "Loader": _LOADER,
    "StatefulDataLoader": _LOADER,
    "GeneratorDataset": "write hr.Generator(function, columns), or hr.from_dataset(dataset)",
    "NumpySlicesDataset": "it is called Numpy",
    "TensorDataset": "it is called Numpy",
    "CSVDataset": "it is called Csv",
    "CSV": "it is called Csv",
    "TextFileDataset": "it is called Text",
    "TextLineDataset": "it is called Text",
    "ImageFolderDataset": "it is called ImageFolder",
    "ConcatDataset": "write dataset.concat(other)",
    "StackDataset": "write dataset.zip(other)",
    "IterableDataset": "write hr.Generator(lambda: iter(dataset), columns)",
    "MapDataset": _OBJECTS,
    "TFRecordDataset": "it is called TFRecord",
    "Lines": "it is called Text",
    "TextDataset": "it is called Text",
    "Json": _JSON,
    "JSON": _JSON,
    "JSONL": _JSON,
    "Jsonl": _JSON,
    "JsonDataset": _JSON,
    "JSONDataset": _JSON,
    "from_json": _JSON,
    "ImageDataset": "it is called ImageFolder",
    "TabularDataset": "it is called Csv",
    "CsvDataset": "it is called Csv",
    "from_csv": "it is called Csv",
    "from_files": "it is called Files",
    "NumpyDataset": _NUMPY,
    "ArrayDataset": _NUMPY,
    "from_numpy": _NUMPY,
    "from_tensors": _NUMPY,
    "from_torch": f"{_NUMPY}; or hr.from_dataset(dataset) over an object that gives rows by number",
    "sample_from_datasets": "write hr.mix(datasets, weights, stop)",
    "choose_from_datasets": "write hr.choose(datasets, choice)",
    "seed": _OWN_SEED,
    "set_seed": _OWN_SEED,
    "manual_seed": _OWN_SEED,
    "AUTOTUNE": "leave it out: stages take the cores that they need, and read ahead as memory allows",
    "BatchSampler": "write sample(…) and batch(size) of a dataset",
    "concat": "write dataset.concat(other)",
    "concatenate": "write dataset.concat(other)",
    "from_tensor_slices": "it is called Numpy: hr.Numpy({name: array})",
    "random_split": "write dataset.split([0.8, 0.2], seed=0)",
    "range": "it is called Range",
    "zip": "write dataset.zip(other)",
    "Compose": "write the kernels as a list in map, or hr.compose(kernels) for a function of an image",
    "counter": "it is called Range",
    "list_files": "it is called Files",
    "make_csv_dataset": "it is called Csv",
    "ChainDataset": "write dataset.concat(other)",
    "MindDataset": "it is called MindRecord",
    "DistributedSampler": _OF_RANKS,
    "OrderedDistributedSampler": _OF_RANKS,
    "RandomSampler": "write shuffle=True in the source",
    "SequentialSampler": "leave it out: rows come in order unless shuffle=True",
    "SubsetRandomSampler": "write dataset.select(indices), and shuffle(window)",
    "SubsetSampler": "write dataset.select(indices)",
    "WeightedRandomSampler": "write dataset.sample(hr.Weighted(weights))",
    "PKSampler": "write dataset.sample(hr.PK(labels, p, k))",
    "default_collate": "leave it out: dataset.batch(size) joins rows",
    "default_convert": 'leave it out: options(as_="torch") gives tensors',
    "get_worker_info": "leave it out: each row is made once, whatever the number of processes",
    "PrefetchLoader": 'write headrace.torch.Loader(dataset, "cuda:0")',
    "create_dataset": "write hr.ImageFolder(root), or a set of headrace.datasets",
    "create_loader": _LOADER,
    "IterableImageDataset": "it is called ImageFolder",
    "AugMixDataset": "write V.AugMix() among the kernels of map",
    "FastCollateMixup": 'write map(V.MixUp(0.2), ["image", "label"]) after batch(size)',
    "resolve_data_config": _PREPARATION,
    "resolve_model_data_config": _PREPARATION,
    "image_dataset_from_directory": "it is called ImageFolder",
    "text_dataset_from_directory": 'write hr.ImageFolder(root, extensions=[".txt"]), which gives the bytes of files by class',
    "audio_dataset_from_directory": 'write hr.ImageFolder(root, extensions=[".wav"]), which gives the bytes of files by class',
    "timeseries_dataset_from_array": 'write hr.Numpy({"window": numpy.lib.stride_tricks.sliding_window_view(array, size)})',
    "ImageDataGenerator": _PICTURES,
    "flow_from_directory": _PICTURES,
    "PyDataset": _OBJECTS,
    "Sequence": _OBJECTS,
    "load_img": "write V.Decode()(data), with the bytes of a file",
    "pad_sequences": "write dataset.batch(size, pad=True)",
    "to_categorical": 'write dataset.map(T.OneHot(num_classes), "label")',
    "split_dataset": "write dataset.split([0.8, 0.2], seed=0)",
    "LightningDataModule": _OF_LIGHTNING,
    "DataModule": _OF_LIGHTNING,
}


def source_advice(name: str) -> str | None:
    return _SOURCES.get(name)


# What to write in place of more values than a call takes without a name.
_FURTHER_VALUES = {
    "Numpy": 'give the arrays in a dict from column to array: hr.Numpy({"features": x, "label": y})',
    "map": "give several kernels or functions as a list, and several columns as a list: map([first, second], "
    '["image", "label"])',
    "filter": 'give several columns as a list: filter(function, ["image", "label"])',
    "project": 'give several columns as a list: project(["image", "label"])',
}

_GOES_ON = "write dataset.iterate(state=state), which gives an iterator that goes on from there"
_ONE_RUN = "write it to the dataset, before iter(dataset): an iterator is one run"
# Of the iterator of a run.
_ITERATOR = {
    "state_dict": "write it.state(); headrace.torch.Loader has state_dict()",
    "save": "write it.state(), and keep these bytes",
    "next": "write next(it)",
    "get_next": "write next(it)",
    "reset": "write iter(dataset), which runs the next epoch",
    "rewind": "write iter(dataset), which runs the next epoch",
    "set_epoch": "write dataset.iterate(epoch=epoch)",
    "stop": "it is called close",
    "shutdown": "it is called close",
    "stats": "it is called report",
    **dict.fromkeys(["load_state_dict", "load_state", "set_state", "restore", "resume"], _GOES_ON),
    **dict.fromkeys(["batch", "filter", "map", "prefetch", "shuffle", "skip", "take", "options", "repeat"], _ONE_RUN),
    **dict.fromkeys(["head", "schema", "iterate"], "the dataset has it: an iterator is one run"),
}


def iterator_advice(name: str) -> str | None:
    return _ITERATOR.get(name)


_BEFORE_LOADER = "write it to the dataset, before headrace.torch.Loader(dataset, …)"
# Of a Loader.
_OF_LOADER = {
    "state": "write loader.state_dict()",
    "load_state": "write loader.load_state_dict(state)",
    "next": "write next(iter(loader))",
    "reset": "write iter(loader), which runs the next epoch",
    "num_workers": _WORKERS,
    "persistent_workers": _WORKERS,
    "drop_last": "write Loader(dataset, batch_size=…, drop_last=True)",
    "report": "write iterate(…) of the dataset, whose iterator has it; the loader has explain()",
    **dict.fromkeys(["classes", "class_to_idx", "schema", "head"], "the dataset has it: loader.dataset"),
    **dict.fromkeys(
        ["batch", "cache", "filter", "map", "options", "prefetch", "repeat", "shuffle", "skip", "take"], _BEFORE_LOADER
    ),
}


def loader_advice(name: str) -> str | None:
    return _OF_LOADER.get(name)


# Values that a method refuses, and what is meant by them: the parameter, the value, and what to write.
_VALUES = {
    "repeat": (
        "count",
        0,
        "leave repeat out for one pass, write repeat() for passes without end, or take(0) for no rows",
    ),
}


def class_advice(name: str) -> str | None:
    return _CLASSES.get(name)


def method_advice(name: str) -> str | None:
    return _METHODS.get(name)


def advise(cls: _Class) -> _Class:
    """Lets the methods of a class say what to write in place of a keyword of another library."""
    for owner in reversed(cls.__mro__):
        for name, method in vars(owner).items():
            if callable(method) and not name.startswith("_") and hasattr(method, "__code__"):
                setattr(owner, name, advised(method, method.__name__))
    return cls


def advise_init(cls: type) -> None:
    """The same for what makes a class, if it is a source or a kernel of this package: users' own may take any keyword."""
    package, _, module = cls.__module__.partition(".")
    is_public = package == "headrace" and module.isidentifier() and not module.startswith("_")
    if is_public and "__init__" in vars(cls):
        cls.__init__ = advised(cls.__init__, cls.__name__, cls.__doc__)  # type: ignore[misc]


def _check_value(of: str, known: tuple[str, ...], by_value: tuple[str, Any, str], args: Any, given: Any) -> None:
    name, value, advice = by_value
    taken = dict(zip(known, args, strict=False)) | given
    if name in taken and type(taken[name]) is type(value) and taken[name] == value:
        raise GraphError(f"{of}: {name} is {value}; {advice}")


def unknown_keyword(of: str, name: str, known: Collection[str]) -> TypeError:
    """The error for a keyword that a call does not have, with what to write in its place."""
    advice = _KEYWORDS.get(name)
    if advice is not None:
        return TypeError(f"{of}() has no parameter {name}; {advice}")
    near = did_you_mean(name, known)
    return TypeError(f"{of}() has no parameter {name}{near or '; it has ' + (', '.join(known) or 'none')}")


def advised(function: Callable[..., Any], shown: str, documented: str | None = None) -> Callable[..., Any]:
    """A function that answers a keyword of another library, or a mistyped one, by what to write in its place, and a missing
    argument by what its documentation says of it."""
    written = getattr(function, "__wrapped__", function)
    code = written.__code__
    takes_any = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    public = [name for name in known if name != "self"]
    options = _run_options(function) if takes_any else ()

    by_value = _VALUES.get(shown)
    needed = known[: code.co_argcount - len(written.__defaults__ or ())]
    most = None if code.co_flags & inspect.CO_VARARGS else code.co_argcount

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        if isinstance(given.get("storage"), Mapping):
            given["storage"] = guarded(given.pop("storage"), shown)
        if by_value is not None:
            _check_value(shown, known, by_value, args, given)
        for name in given:
            if name in known or name in options:
                continue
            if options or not takes_any:  # Others pass on what they do not know, such as parameters of a source.
                raise unknown_keyword(shown, name, [*public, *options])
        if public[:1] in (["patterns"], ["paths"]):
            _refuse_files_side_by_side(shown, args[1:])
        if most is not None and len(args) > most:
            raise _too_many(shown, public, most - len(known) + len(public), len(args) - most)
        for name in needed[len(args) :]:
            if name not in given:
                raise TypeError(f"{shown}() needs {name}{_said_of(documented or function.__doc__ or '', name)}")
        return function(*args, **given)

    return call


def _refuse_files_side_by_side(of: str, given: tuple[Any, ...]) -> None:
    """A second path is taken for the second parameter."""
    if len(given) < 2 or not all(isinstance(each, (str, os.PathLike)) for each in given[:2]):
        return
    first, second = (os.path.splitext(os.fspath(each))[1] for each in given[:2])
    if first and first == second:
        raise TypeError(f"{of}() takes several files as a list: hr.{of}([{given[0]!r}, {given[1]!r}])")


def _too_many(of: str, public: list[str], most: int, further: int) -> TypeError:
    """The error for values without a name that are more than a call takes."""
    advice = _FURTHER_VALUES.get(of)
    if advice is None and len(public) > most:
        advice = "name what follows: " + ", ".join(f"{name}=…" for name in public[most:])
    taken = ", ".join(public[:most])
    values = "1 value" if most == 1 else f"{most or 'no'} values"
    of_these = f" ({taken})" if taken else ""
    end = f"; {advice}" if advice else ""
    return TypeError(f"{of}() takes {values} without a name{of_these}, and got {most + further}{end}")


def _said_of(documentation: str, name: str) -> str:
    """The first sentence that a documentation says of a parameter."""
    said = re.search(rf"^( *){name}: (.+(?:\n\1 +.+)*)", documentation, re.MULTILINE)
    return "" if said is None else f": {' '.join(said[2].split()).partition('. ')[0].rstrip('.')}"


def _run_options(function: Callable[..., Any]) -> tuple[str, ...]:
    """The options of runs that it takes besides its parameters."""
    declared = function.__globals__.get("RunParameters")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and "RunParameters" in str(parameter.annotation):
            return tuple(declared.__annotations__) if declared is not None else ()
    return ()
