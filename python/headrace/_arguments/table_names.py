"""Names of libraries of tables and samples, with what to write here: Hugging Face datasets, WebDataset, Grain, Polars,
pandas, DALI's and FFCV's readers. `other_libraries` says them in errors."""

__all__ = ["KEYWORDS", "METHODS", "SOURCES"]

_PROJECT = "write project(columns), which names those that stay"
_TYPECAST = "write map(T.TypeCast(dtype), column), or types=… of the source"
_TABLE = 'write pyarrow.Table.from_batches(dataset.batch(1000).options(as_="arrow"))'
_PARQUET = 'write write_parquet("train.parquet"), and read it with hr.Parquet'
_MISSING = "write missing={column: value} of the source; a value that is missing has no other form here"
_FORMAT = 'write options(as_="torch"), or "numpy", "arrow", "dlpack"; project(columns) chooses columns'
_FUNCTION_OF_ROWS = "write map(function, columns), where a function gets one argument for each column that it names"
_PLACES = "write select(indices), which chooses rows by their numbers"
_SORTED = "write select(order), such as order = numpy.argsort(values)"
_NUMBERED = "write zip(hr.Range(len(dataset)))"
_ROWS = "iterate over the dataset itself: for row in dataset"
_FILTER = 'write filter(hr.col("x") > 1), or filter(function, columns)'
_LENGTH = "write len(dataset)"
_GROUPS = "write group_by_window(key, size, function) for batches of equal keys; for sums use the library of tables"
_OTHER_LIBRARY = "write hr.Arrow(table), with what a library of tables has computed"
_UNCHANGED = "leave it out: each method gives a new dataset, and leaves its own as it was"
_NO_INDEX = "leave it out: a column is a column, and rows have numbers"
_LENGTHS = "leave it out: len(dataset) is known, or there is none; take(count) ends an epoch"

METHODS = {
    # Hugging Face datasets
    "add_column": "write zip(hr.Numpy({name: values}))",
    "add_item": "write concat(other)",
    "cast": _TYPECAST,
    "cast_column": _TYPECAST,
    "class_encode_column": "write classes={column: None} of the source, which numbers the texts of a column",
    "flatten": "leave it out: the fields of structs are columns with dotted names",
    "flatten_indices": "leave it out: rows that select chose are read by their numbers",
    "num_columns": "write len(dataset.schema)",
    "num_rows": _LENGTH,
    "push_to_hub": 'write write_parquet("train.parquet"), and upload the files with huggingface_hub',
    "remove_columns": _PROJECT,
    "rename_column": "write rename({old: new})",
    "rename_columns": "write rename({old: new})",
    "reset_format": _FORMAT,
    "save_to_disk": f"{_PARQUET}; save(path) keeps the pipeline, not its rows",
    "select_columns": "write project(columns)",
    "set_format": _FORMAT,
    "set_transform": _FUNCTION_OF_ROWS,
    "sort": _SORTED,
    "to_csv": _PARQUET,
    "to_dict": f"{_TABLE}.to_pydict()",
    "to_iterable_dataset": "leave it out: every dataset is read as a stream",
    "to_list": "write list(dataset)",
    "to_pandas": f"{_TABLE}.to_pandas()",
    "to_parquet": _PARQUET,
    "to_polars": f"{_TABLE}, and polars.from_arrow(table)",
    "to_tf_dataset": "iterate over the dataset itself: for batch in dataset",
    "with_format": _FORMAT,
    "with_transform": _FUNCTION_OF_ROWS,
    # Polars and pandas
    "assign": _FUNCTION_OF_ROWS,
    "astype": _TYPECAST,
    "collect": _TABLE,
    "describe": _OTHER_LIBRARY,
    "drop": _PROJECT,
    "drop_duplicates": "write unique(columns)",
    "drop_nulls": f"{_MISSING}; filter leaves its rows out",
    "dropna": f"{_MISSING}; filter leaves its rows out",
    "dtypes": "write schema, which is not a method",
    "explode": "write flat_map(function), which gives rows",
    "fill_null": _MISSING,
    "fillna": _MISSING,
    "group_by": _GROUPS,
    "groupby": _GROUPS,
    "iloc": f"{_PLACES}, or dataset[number]",
    "insert": "write zip(hr.Numpy({name: values}))",
    "iter_rows": _ROWS,
    "iterrows": _ROWS,
    "itertuples": _ROWS,
    "join": _OTHER_LIBRARY,
    "lazy": "leave it out: nothing is read before the dataset is run",
    "limit": "write take(count)",
    "loc": f"{_PLACES}, or filter(condition)",
    "merge": _OTHER_LIBRARY,
    "query": _FILTER,
    "sort_values": _SORTED,
    "tail": "write skip(len(dataset) - count)",
    "to_arrow": _TABLE,
    "to_numpy": 'write next(iter(dataset.batch(len(dataset))))["x"]',
    "value_counts": _OTHER_LIBRARY,
    "vstack": "write concat(other)",
    "where": _FILTER,
    "with_columns": _FUNCTION_OF_ROWS,
    "with_row_index": _NUMBERED,
    "append": "write concat(other)",
    "extend": "write concat(other)",
    "first": "write next(iter(dataset))",
    "last": "write dataset[-1]",
    "info": "write schema, which is not a method",
    "collect_schema": "write schema, which is not a method",
    "glimpse": "write head(3)",
    "height": _LENGTH,
    "width": "write len(dataset.schema)",
    "is_empty": "write len(dataset) == 0",
    "empty": "write len(dataset) == 0",
    "get_column": "write project(columns)",
    "to_series": "write project(columns)",
    "values": 'write next(iter(dataset.batch(len(dataset))))["x"]',
    "to_torch": 'write next(iter(dataset.batch(len(dataset)).options(as_="torch")))',
    "to_dicts": "write list(dataset)",
    "to_records": "write list(dataset)",
    "rows": "write list(dataset)",
    "copy": _UNCHANGED,
    "clone": _UNCHANGED,
    "reset_index": _NO_INDEX,
    "set_index": _NO_INDEX,
    "sort_index": _SORTED,
    "top_k": _SORTED,
    "gather_every": _PLACES,
    "isna": _MISSING,
    "isnull": _MISSING,
    "notna": _MISSING,
    "null_count": _MISSING,
    "fill_nan": _MISSING,
    "ffill": _MISSING,
    **dict.fromkeys(["mean", "std", "min", "max", "var"], "write statistics(column)"),
    **dict.fromkeys(
        ["agg", "aggregate", "corr", "median", "melt", "pivot", "quantile", "sum", "unpivot"], _OTHER_LIBRARY
    ),
    **dict.fromkeys(
        ["iter_slices", "iter_columns"], "iterate over the dataset itself: for batch in dataset.batch(size)"
    ),
    **dict.fromkeys(["to_feather", "to_pickle", "to_sql", "export"], _PARQUET),
    **dict.fromkeys(["write_csv", "write_json", "write_ndjson", "sink_parquet"], _PARQUET),
    # WebDataset
    "batched": "write batch(size)",
    "compose": "write function(dataset)",
    "ddp_equalize": 'write iterate(even="pad"), or options(even="drop")',
    "decode": "write map(V.Decode(), column) for images, and decode={…} of hr.WebDataset for other fields",
    "listed": 'write batch(size, ragged="list")',
    "map_dict": "write map(function, column), once for each column",
    "map_tuple": "write map(function, column), once for each column",
    "mcached": "write cache()",
    "pipe": "write function(dataset)",
    "rename_keys": "write rename({old: new})",
    "resampled": "write repeat()",
    "rsample": "write sample(hr.Weighted(weights)), or filter(function, columns)",
    "to_tuple": "write project(columns): rows are dicts of the columns",
    "unbatched": "write unbatch()",
    "unlisted": "write unbatch()",
    "with_epoch": "write repeat() and take(count)",
    "with_length": _LENGTHS,
    "xdecode": "write map(V.Decode(), column) for images, and decode={…} of hr.WebDataset for other fields",
    # Grain
    "map_with_index": f"{_NUMBERED}, and map(function, columns)",
    "mp_prefetch": "leave it out: kernels use all cores; map(function, columns, processes=…) starts worker processes",
    "random_map": "write map(function, columns), where a function with a parameter rng gets the row's own generator",
    "seed": "write with_seed(seed)",
    "slice": "write select(range(start, stop)), or skip(count) and take(count)",
    "to_iter_dataset": "leave it out: every dataset is read as a stream",
}

_BY_KERNEL = "leave it out: kernels take rows, and batch kernels such as V.MixUp() stand after batch(size)"
_READ_CACHE = "leave it out: the engine keeps what costs most by itself; cache(directory=…) keeps rows for later runs"
_SPLIT = "write split([0.8, 0.2]), or the path of that part's files"
_STREAMING = "leave it out: rows are read when they are asked for"
_MISSING_VALUES = 'it is called missing: missing={"age": -1}, by column'
_TYPES = 'it is called types: types={"age": "int64"}'
_COLUMNS = 'it is called columns: columns=["a", "b"]'
_TAKE = "write take(count)"
_SKIP = "write skip(count)"
_SHARDS = "leave it out: iterate(shard=(rank, world)) divides the rows, and worker threads share those of a rank"
_URLS = "it is called paths, and comes first: hr.WebDataset(paths)"

KEYWORDS = {
    # Hugging Face datasets
    "num_proc": "write processes=… for Python functions: map(function, columns, processes=4); kernels use all cores",
    "batched": _BY_KERNEL,
    "fn_kwargs": "write functools.partial(function, …), or hr.parameter(…) for numbers that change",
    "keep_in_memory": _READ_CACHE,
    "load_from_cache_file": _READ_CACHE,
    "cache_file_name": _READ_CACHE,
    "remove_columns": "write project(columns) after the map, which names those that stay",
    "with_indices": "write zip(hr.Range(len(dataset))), and name its column in map",
    "with_rank": "leave it out: rows do not depend on what works on them",
    "streaming": _STREAMING,
    "split": _SPLIT,
    "test_size": "write split([0.8, 0.2])",
    "train_size": "write split([0.8, 0.2])",
    "stratify_by_column": "write split of each class, or sample(hr.ClassBalanced(column))",
    "data_files": "the paths come first, without a name",
    "data_dir": "the paths come first, without a name",
    "writer_batch_size": "leave it out: what is written is joined by bytes",
    # Polars and pandas
    "usecols": _COLUMNS,
    "names": 'it is called columns: hr.Csv(patterns, header=False, columns=["a", "b"])',
    "null_values": _MISSING_VALUES,
    "na_values": _MISSING_VALUES,
    "keep_default_na": _MISSING_VALUES,
    "schema_overrides": _TYPES,
    "dtypes": _TYPES,
    "separator": "it is called delimiter: hr.Csv(patterns, delimiter=…)",
    "quotechar": "it is called quote: hr.Csv(patterns, quote=…)",
    "quote_char": "it is called quote: hr.Csv(patterns, quote=…)",
    "has_header": "it is called header: hr.Csv(patterns, header=False)",
    "index_col": "leave it out: a column is a column, and rows have numbers",
    "chunksize": "write batch(size): no file is read as a whole",
    "low_memory": _STREAMING,
    "nrows": _TAKE,
    "n_rows": _TAKE,
    "skiprows": _SKIP,
    "skip_rows": _SKIP,
    "parse_dates": "write a Python function in map, over the column as text",
    "infer_schema_length": "it is called look: hr.Csv(patterns, look=10_000)",
    "frac": "write shuffle=True in the source, and take(count) for a part",
    "random_state": "write with_seed(seed), or seed=… of the source",
    # WebDataset
    "urls": _URLS,
    "shardshuffle": "write shuffle=True in the source",
    "resampled": "write repeat() and take(count)",
    "nodesplitter": _SHARDS,
    "workersplitter": _SHARDS,
    "detshuffle": "leave it out: an order follows from the seed and the epoch",
    "handler": 'write dataset.on_error("skip"), which holds for the whole pipeline',
    "empty_check": "leave it out: a rank without rows gives none",
    "cache_dir": 'write storage={"s3": {"object_cache": folder}} for far files, or cache(directory=…) for rows',
    "partial": "it is called drop_remainder: batch(size, drop_remainder=True)",
    "collation_fn": "write batch(size, function=…), which gets the columns as lists of rows",
    "select_files": _COLUMNS,
    "rename_files": "write rename({old: new})",
    # Grain
    "worker_count": "leave it out: kernels use all cores; map(function, columns, processes=…) starts worker processes",
    "worker_buffer_size": "leave it out: a pipeline reads ahead by itself, as far as iterate(memory=…) allows",
    "shard_options": "write iterate(shard=(rank, world))",
    "read_options": "leave it out: reads are outstanding as disks need",
    # DALI and FFCV
    "random_shuffle": "it is called shuffle: shuffle=True",
    "initial_fill": "write shuffle(window), or shuffle=True in the source for all orders",
    "file_root": "it is called root, and comes first: hr.ImageFolder(root)",
    "num_gpus": "write iterate(shard=(rank, world))",
    "device_id": 'write to_device("cuda:0")',
    "order": "write shuffle=True in the source",
    "os_cache": _READ_CACHE,
    "batches_ahead": "leave it out: a pipeline reads ahead by itself, as far as iterate(memory=…) allows",
}

_ARROW = "write hr.Arrow(frame), which takes frames of Polars and pandas, and tables of pyarrow"
_LOADED = "write hr.from_huggingface(datasets.load_dataset(…)), or hr.Parquet, hr.Csv, hr.JsonLines or hr.ImageFolder over files"
_NO_SHARDS = f"write hr.WebDataset(paths), and {_SHARDS.removeprefix('leave it out: ')}"
_WRITE_TAR = "write dataset.write_tar(path, files=…)"
_A_PIPELINE = "write a source and methods, as in hr.ImageFolder(root).map(kernels, columns).batch(size)"

SOURCES = {
    "load_dataset": _LOADED,
    "load_from_disk": "write hr.from_huggingface(datasets.load_from_disk(path))",
    "concatenate_datasets": "write dataset.concat(other)",
    "interleave_datasets": "write hr.mix(datasets, weights, stop)",
    "DatasetDict": "write one dataset for each split",
    "from_parquet": "it is called Parquet",
    "from_text": "it is called Text",
    "from_sql": _ARROW,
    "from_spark": "write Parquet files with Spark, and hr.Parquet(paths)",
    "from_buffer": _ARROW,
    "from_file": _ARROW,
    "DataFrame": _ARROW,
    "LazyFrame": _ARROW,
    "from_pandas": _ARROW,
    "from_polars": _ARROW,
    "from_arrow": _ARROW,
    "from_dict": "it is called Numpy",
    "from_list": "write hr.Numpy(columns), with an array or a list for each column",
    "from_generator": "it is called Generator",
    "read_csv": "it is called Csv",
    "scan_csv": "it is called Csv",
    "read_parquet": "it is called Parquet",
    "scan_parquet": "it is called Parquet",
    "ParquetDataset": "it is called Parquet",
    "read_json": "write hr.JsonLines(patterns)",
    "read_ndjson": "it is called JsonLines",
    "scan_ndjson": "it is called JsonLines",
    "concat": "write dataset.concat(other)",
    **dict.fromkeys(
        ["split_by_node", "split_by_worker", "shardlists", "SimpleShardList", "PytorchShardList"], _NO_SHARDS
    ),
    **dict.fromkeys(["warn_and_continue", "ignore_and_continue"], 'write dataset.on_error("skip")'),
    "reraise_exception": "leave it out: an error ends the run unless on_error says otherwise",
    "WebLoader": "write headrace.torch.Loader(dataset, batch_size=…)",
    "DataPipeline": _A_PIPELINE,
    "ShardWriter": _WRITE_TAR,
    "TarWriter": _WRITE_TAR,
    "RandomMix": "write hr.mix(datasets, weights, stop)",
    "RoundRobin": "write hr.choose(datasets, choice)",
    "ResampledShards": "write repeat()",
    "IterDataset": _A_PIPELINE,
    "IndexSampler": "write shuffle=True in the source, or sample(…)",
    "ArrayRecordDataSource": "write hr.from_dataset(source, columns=…), which takes Grain's sources as they are",
    "RandomAccessDataSource": "write hr.from_dataset(source, columns=…)",
    "MapTransform": "write a Python function in map",
    "Pipeline": _A_PIPELINE,
    "pipeline_def": _A_PIPELINE,
    "DALIGenericIterator": "iterate over the dataset itself: for batch in dataset",
    "DALIClassificationIterator": "iterate over the dataset itself: for batch in dataset",
    "DatasetWriter": "write dataset.write_parquet(path), or write_tar, write_records, write_tfrecord",
    "OrderOption": "write shuffle=True in the source",
}
