/* This header is the C interface of libheadrace.so: it opens an inference graph, the preprocessing that training saved,
 * and runs it on a request, bit for bit as Python does. C99 and later, no other header of ours.
 *
 *   hr_open_options options = {.size = sizeof options};
 *   options.path = "model.onnx";
 *   hr_graph* graph = NULL;
 *   hr_status* status = hr_open(&options, &graph);
 *   if (status != NULL) { fprintf(stderr, "%s\n", hr_status_text(status)); hr_status_free(status); return 1; }
 *   hr_tensor input = {.size = sizeof input}, output = {.size = sizeof output};
 *   input.dtype = HR_BYTES;
 *   input.data = jpeg;
 *   input.bytes = jpeg_bytes;
 *   status = hr_run(graph, &input, 1, &output, 1);   // then output.dtype, .axes, .shape, .data
 *   hr_release(&output);
 *   hr_close(graph);
 *
 * Versions. HEADRACE_ABI is the version of this interface. What version 1 declares stays, and structures only grow at
 * their ends: a program that was built with this header runs with this library and later ones.
 *
 * Structures. `size` comes first in each: the caller sets it to sizeof, and all else that it does not use to zero. Of
 * an array all have one `size`, which is their distance, too.
 *
 * Errors. Functions that can fail return a status: NULL if all went well, else an object of the caller's, which
 * hr_status_free() frees. There is no last error of a thread or a process. No exception leaves the library, and running
 * out of memory is a status.
 *
 * Threads. A graph is immutable: any number of threads run it at once, without a lock. A call works on the thread that
 * calls it; no thread is started but by hr_pool_make(). Structures, statuses and outputs belong to who made the call.
 * hr_close(), hr_pool_close(), hr_release() and hr_status_free() may be called from any thread, once, when nobody uses
 * the object any more. A thread may not be cancelled (pthread_cancel) within a call. The child of a process with
 * several threads may not use the library after fork() unless it calls exec. The library stays loaded after dlclose().
 */
#ifndef HEADRACE_H_
#define HEADRACE_H_

#include <stddef.h>
#include <stdint.h>

#if !defined(__LP64__)
#error "headrace.h is for machines whose long and pointers have 64 bits"
#endif

#define HEADRACE_ABI 1

#define HR_EXPORT __attribute__((visibility("default")))

/* The most axes of a tensor. */
#define HR_MOST_AXES 32

#ifdef __cplusplus
extern "C" {
#endif

/* HEADRACE_ABI of the library that is loaded. */
HR_EXPORT uint32_t hr_abi(void);
/* The version of Headrace: "0.1.0". Stays valid. */
HR_EXPORT const char* hr_version(void);

/* ---- Statuses ---- */

/* What went wrong. Later versions may add kinds. */
typedef enum hr_kind {
  HR_OK = 0,
  HR_ARGUMENT_ERROR = 1,    /* the call itself: a pointer that is NULL, a wrong `size`, a number out of its range */
  HR_GRAPH_ERROR = 2,       /* the graph cannot run */
  HR_DATA_ERROR = 3,        /* an input, its dtype or shape, or a file is not what it should be */
  HR_NOT_FOUND_ERROR = 4,   /* there is no such file, or no graph in it */
  HR_RESOURCE_ERROR = 5,    /* memory, or another limit of the machine */
  HR_UNSUPPORTED_ERROR = 6, /* not possible here, or not with these options */
  HR_FUNCTION_ERROR = 7,    /* a plugin failed otherwise */
  HR_INTERNAL_ERROR = 8     /* a bug in Headrace */
} hr_kind;

typedef struct hr_status hr_status;

/* Of NULL: HR_OK, and "" for each text. Texts are UTF-8, and live as long as the status. */
HR_EXPORT int32_t hr_status_kind(const hr_status* status); /* an hr_kind */
/* A sentence that says what is wrong, for people: all that is known, the places below among it. */
HR_EXPORT const char* hr_status_text(const hr_status* status);
/* Where it happened; "" where that is not known. The step of the graph: "map Decode". */
HR_EXPORT const char* hr_status_operator(const hr_status* status);
/* The line of the training program that wrote the step: "train.py:12". */
HR_EXPORT const char* hr_status_location(const hr_status* status);
/* The name of the input or output. */
HR_EXPORT const char* hr_status_column(const hr_status* status);
/* The path. */
HR_EXPORT const char* hr_status_file(const hr_status* status);
/* NULL is nothing to free. */
HR_EXPORT void hr_status_free(hr_status* status);

/* ---- Tensors ---- */

typedef enum hr_dtype {
  HR_UNKNOWN = 0, /* of types alone: known once a request has run */
  HR_BOOL = 1,    /* a byte, 0 or 1 */
  HR_INT8 = 2,
  HR_INT16 = 3,
  HR_INT32 = 4,
  HR_INT64 = 5,
  HR_UINT8 = 6,
  HR_UINT16 = 7,
  HR_UINT32 = 8,
  HR_UINT64 = 9,
  HR_FLOAT16 = 10,
  HR_BFLOAT16 = 11,
  HR_FLOAT32 = 12,
  HR_FLOAT64 = 13,
  HR_BYTES = 14, /* strings of bytes, each of its own length, such as encoded images */
  HR_STRING = 15 /* the same, in UTF-8 */
} hr_dtype;

/* An input, which is read and never written, or an output. */
typedef struct hr_tensor {
  uint32_t size;               /* sizeof(hr_tensor) */
  int32_t dtype;               /* an hr_dtype */
  int32_t axes;                /* 0 to HR_MOST_AXES; 0: a single value, such as the bytes of one picture */
  int32_t reserved;            /* 0 */
  int64_t shape[HR_MOST_AXES]; /* of each axis; of bytes and strings, that of the strings */
  /* Row-major and without gaps, aligned to the size of an element. Of bytes and strings: their bytes. */
  void* data;
  uint64_t bytes; /* at `data`; of numbers at least what dtype and shape need */
  /* Of bytes and strings with axes: string i is the bytes offsets[i] to offsets[i + 1] of data; one number more than
   * there are strings. Otherwise NULL. */
  const int64_t* offsets;
  void* owner; /* of an output that the library allocated: what hr_release() frees. Otherwise NULL */
} hr_tensor;

/* Frees an output that the library allocated, and sets its data, offsets and owner to NULL. Any other tensor, and NULL,
 * is left as it is. */
HR_EXPORT void hr_release(hr_tensor* tensor);

/* ---- Plugins ---- */

/* Loads a plugin (headrace_plugin.h), so that graphs opened later may have its kernels. It stays loaded, and runs with
 * all rights of this process: load none that you would not run. Opening a graph loads none. */
HR_EXPORT hr_status* hr_load_plugin(const char* path);

/* ---- Graphs ---- */

typedef struct hr_graph hr_graph;

typedef struct hr_open_options {
  uint32_t size; /* sizeof(hr_open_options) */
  /* Not 0: also run what is stored beside the graph in the model file, and fail with HR_UNSUPPORTED_ERROR if this
   * machine gives other results than the one that attached it; the text names the first step that differs. */
  uint32_t verify;
  /* One of both. A file: a saved graph, or a model (ONNX, safetensors, TorchScript, .pt2, OpenVINO's .xml) that a graph
   * is attached to, or that has a MODEL.hrg beside it. */
  const char* path;
  /* A graph's bytes, as saving writes them; not needed any more when hr_open() has returned. */
  const void* bytes;
  uint64_t byte_count;
} hr_open_options;

/* An input or output of a graph. */
typedef struct hr_column {
  uint32_t size;               /* sizeof(hr_column) */
  int32_t dtype;               /* an hr_dtype */
  int32_t axes;                /* -1: not known before a request has run */
  int32_t reserved;            /* 0 */
  int64_t shape[HR_MOST_AXES]; /* of each axis; -1: differs from request to request */
  const char* name;            /* lives as long as the graph */
} hr_column;

/* Opens a graph: reads it, checks all of it and makes its kernels. `*graph` is NULL after an error. */
HR_EXPORT hr_status* hr_open(const hr_open_options* options, hr_graph** graph);
/* NULL is nothing to close. */
HR_EXPORT void hr_close(hr_graph* graph);

/* 0 for NULL. */
HR_EXPORT size_t hr_input_count(const hr_graph* graph);
HR_EXPORT size_t hr_output_count(const hr_graph* graph);
/* Writes all of `column`, whose `size` the caller has set. */
HR_EXPORT hr_status* hr_input(const hr_graph* graph, size_t index, hr_column* column);
HR_EXPORT hr_status* hr_output(const hr_graph* graph, size_t index, hr_column* column);
/* 32 hexadecimal digits, equal for graphs that give the same results. Lives as long as the graph; "" for NULL. */
HR_EXPORT const char* hr_graph_hash(const hr_graph* graph);

/* Runs one request: as many inputs and outputs as the graph has, in its order. Inputs are used in place.
 *   An output with data = NULL is allocated, in one piece, and the caller releases it by hr_release(): its dtype,
 * axes, shape, data, bytes and owner are written.
 *   An output with data is written there: dtype, axes, shape and bytes say what there is room for. A result of another
 * dtype or shape is an error; so is data for bytes and strings, whose length is not known before. It shares no memory
 * with an input or another output.
 * After an error there is nothing to release, and the caller's memory may have been written to. */
HR_EXPORT hr_status* hr_run(const hr_graph* graph, const hr_tensor* inputs, size_t input_count, hr_tensor* outputs,
                            size_t output_count);

/* Threads that run requests. */
typedef struct hr_pool hr_pool;

/* 1 to 1024 threads, which wait until there is work. A pool serves any number of callers and graphs at once. After
 * fork() it does not exist in the child, where running with it is an error. */
HR_EXPORT hr_status* hr_pool_make(uint32_t threads, hr_pool** pool);
/* When no call uses it any more. NULL is nothing to close. */
HR_EXPORT void hr_pool_close(hr_pool* pool);

/* Runs `requests` requests. `inputs` are those of the first request, then those of the second, and so on; `outputs`
 * likewise, each as for hr_run(). `statuses[i]` becomes that of request i: one that fails leaves the others as they
 * are. The calling thread works, too, and alone if `pool` is NULL. The status that is returned is of the call alone: an
 * error means that nothing ran, and `statuses` are as they were. */
HR_EXPORT hr_status* hr_run_many(const hr_graph* graph, size_t requests, const hr_tensor* inputs, size_t input_count,
                                 hr_tensor* outputs, size_t output_count, hr_status** statuses, hr_pool* pool);

/* ---- Pipelines: libheadrace_engine.so alone, which has everything else, too ---- */

/* A run of a whole data set's graph, which gives row after row, usually batches. One thread at a time uses it. */
typedef struct hr_pipeline hr_pipeline;

/* One option of a run, by the name that it has in ds.options() and ds.iterate(): a text, or a number where `text` is
 * NULL; 0 and 1 for false and true. seed, epoch, rank, world, even, start, stop, workers, window, group, memory
 * (bytes), cache_folder, failed_rows_log, optimize, settings of far stores by a scheme or the beginning of URLs, such
 * as storage[s3].endpoint and storage[s3://bucket/].region, and pull: 1, as it is unless set, runs everything on the
 * thread that calls hr_pipeline_next() and starts no other; 0 runs it on threads of its own. */
typedef struct hr_option {
  uint32_t size;     /* sizeof(hr_option) */
  uint32_t reserved; /* 0 */
  const char* name;
  const char* text;
  int64_t number;
} hr_option;

typedef struct hr_pipeline_options {
  uint32_t size;     /* sizeof(hr_pipeline_options) */
  uint32_t reserved; /* 0 */
  /* One of both: a file that ds.save() wrote, or its bytes. Python functions and arrays do not travel in them: a graph
   * that names some is refused, with the names. */
  const char* path;
  const void* bytes;
  uint64_t byte_count;
  const hr_option* options;
  uint64_t option_count;
  /* Where to go on: what hr_pipeline_state() gave, here or as iterator.state() in Python; NULL: at the beginning. */
  const void* state;
  uint64_t state_bytes;
} hr_pipeline_options;

/* Opens a pipeline: its files are looked for, and nothing is read of them yet. `*pipeline` is NULL after an error. */
HR_EXPORT hr_status* hr_pipeline_open(const hr_pipeline_options* options, hr_pipeline** pipeline);
/* NULL is nothing to close. Rows that were given stay valid. */
HR_EXPORT void hr_pipeline_close(hr_pipeline* pipeline);

/* Of each row. Lists of rows are two columns, as in the engine: their values, and "NAME[splits]", where each ends.
 * 0 for NULL. */
HR_EXPORT size_t hr_pipeline_column_count(const hr_pipeline* pipeline);
/* Writes all of `column`, whose `size` the caller has set; its name lives as long as the pipeline. */
HR_EXPORT hr_status* hr_pipeline_column(const hr_pipeline* pipeline, size_t index, hr_column* column);

/* Gives the next row: `*row` is 1, and `outputs`, one a column, each with data = NULL before, are allocated and the
 * caller's, as of hr_run(). At the epoch's end `*row` is 0, and stays so until hr_pipeline_next_epoch(). After an error
 * there is nothing to release; an error of a row or of its file comes again in every later call. */
HR_EXPORT hr_status* hr_pipeline_next(hr_pipeline* pipeline, hr_tensor* outputs, size_t output_count, int32_t* row);
/* Goes on with the next epoch. Only at an epoch's end. */
HR_EXPORT hr_status* hr_pipeline_next_epoch(hr_pipeline* pipeline);
/* Gives where the pipeline is, after the row given last, as HR_BYTES that the caller releases: a few bytes, from which
 * this library, Python or another machine goes on. */
HR_EXPORT hr_status* hr_pipeline_state(hr_pipeline* pipeline, hr_tensor* state);
/* Gives, as HR_STRING that the caller releases, what runs, and what took how long. */
HR_EXPORT hr_status* hr_pipeline_explain(hr_pipeline* pipeline, hr_tensor* text);

/* ---- DLPack: the struct of dlpack.h, which the caller includes ---- */

struct DLManagedTensor;

/* `tensor` becomes a view of `managed`, for an input: its memory is not copied and stays `managed`'s. Of the host's
 * memory, row-major, of an element type listed above. */
HR_EXPORT hr_status* hr_from_dlpack(const struct DLManagedTensor* managed, hr_tensor* tensor);
/* Gives an output that the library allocated away: `*managed` owns its memory from now on, and its deleter frees it.
 * `tensor` is as after hr_release(). Bytes and strings are an error, and so is memory of the caller's. */
HR_EXPORT hr_status* hr_to_dlpack(hr_tensor* tensor, struct DLManagedTensor** managed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HEADRACE_H_ */
