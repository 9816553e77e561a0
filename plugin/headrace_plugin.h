/* This header is the C interface between Headrace and a plugin, a shared library that hr.load_plugin() opens. A plugin
 * declares operators that are built outside: kernels, sources with random access, and readers of file formats.
 *
 * A plugin includes this header alone and links nothing of Headrace's. It exports two symbols: headrace_plugin_abi, the
 * version that it needs, and headrace_plugin_query(), which gives what the plugin has, as data. Headrace makes Python
 * classes, checks, defaults, documentation and messages of it; in graphs an operator is called "PLUGIN.Name" and has
 * its version. The interface is for machines whose long and pointers have 64 bits; numbers are in the machine's byte
 * order.
 *
 * Versions. HEADRACE_PLUGIN_ABI is major * 65536 + minor. A plugin works with every Headrace of the major version that
 * it needs and of that minor version or a later one. Every structure begins with its size, as the compiler of the side
 * that made it sees it; later minor versions append fields, and nothing else changes. So structures are given by
 * pointer, never in arrays of values. What a plugin's structure is too short for counts as zero, which means "none" in
 * every field; where it is longer than those that this Headrace knows, the rest must be zero, or the plugin is refused.
 * A plugin reads a field of Headrace's structures that is newer than the version that it needs only where their
 * struct_size includes it, and writes none beyond that. Reserved fields, padding and flags without a name are zero.
 *   Later versions add element types, types of attributes, results, flags and traits: a kernel refuses, by an error, an
 * element type that it does not know. Inputs are in the host's memory, row-major and without gaps, of an element type
 * listed below, unless a kernel declares by a later version's trait that it takes others. Fields that are expected to
 * come: of kernels, an upgrade of older versions' attributes, many rows a call, devices, memory to work in; of the
 * host, warnings, provenance, epoch and rank, outputs that the plugin allocated; of plugins, what to do after fork().
 *
 * Threads. One thread at a time calls headrace_plugin_query(), once, and again each time that a library that was
 * refused is loaded again. Every other callback may be called by any thread and by several at once, also with the same
 * state: a state is not changed after it was created. A reader of a format is the exception: one thread at a time calls
 * its next() and close(). A callback must not throw, longjmp, fork, or end its thread, and must return: nothing can
 * interrupt it. infer(), columns() and create() may be called by a thread that holds Python's interpreter lock, so they
 * wait for no thread that needs it. A headrace_call and the pointers that a callback is given are valid
 * until it returns, and for its own thread alone.
 *
 * Memory. What the plugin declares stays valid and unchanged while the process runs; a library that was called is never
 * unloaded, even if it was refused. Inputs are read-only: others read them at the same time. Outputs are in memory of
 * Headrace's, often a row's slot in its batch, so that nothing is copied: a kernel writes as many bytes as it asked
 * for. All texts are UTF-8 and end with a zero byte. */
#ifndef HEADRACE_PLUGIN_H_
#define HEADRACE_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#if !defined(__LP64__)
#error "headrace_plugin.h is for machines whose long and pointers have 64 bits"
#endif

#define HEADRACE_PLUGIN_ABI_MAJOR 1
#define HEADRACE_PLUGIN_ABI_MINOR 1
#define HEADRACE_PLUGIN_ABI (HEADRACE_PLUGIN_ABI_MAJOR * 65536U + HEADRACE_PLUGIN_ABI_MINOR)

#define HEADRACE_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The most axes of a tensor. */
#define HEADRACE_MOST_AXES 32

/* For headrace_to_dlpack(), below. */
#ifdef HEADRACE_WITH_DLPACK
#include <dlpack/dlpack.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. */
typedef enum headrace_dtype {
  HEADRACE_UNKNOWN = 0, /* of types alone: not known before rows are there */
  HEADRACE_BOOL = 1,
  HEADRACE_INT8 = 2,
  HEADRACE_INT16 = 3,
  HEADRACE_INT32 = 4,
  HEADRACE_INT64 = 5,
  HEADRACE_UINT8 = 6,
  HEADRACE_UINT16 = 7,
  HEADRACE_UINT32 = 8,
  HEADRACE_UINT64 = 9,
  HEADRACE_FLOAT16 = 10,
  HEADRACE_BFLOAT16 = 11,
  HEADRACE_FLOAT32 = 12,
  HEADRACE_FLOAT64 = 13,
  HEADRACE_BYTES = 14, /* strings of bytes, each of its own length */
  HEADRACE_STRING = 15 /* the same, in UTF-8 */
} headrace_dtype;

/* A tensor to read. Headrace fills every field. */
typedef struct headrace_tensor {
  uint32_t struct_size;
  int32_t dtype;       /* a headrace_dtype */
  int32_t axes;        /* 0 to HEADRACE_MOST_AXES */
  int32_t device_type; /* DLPack's number; 1: the host's memory */
  int32_t device_id;
  uint32_t reserved;
  /* Row-major and without gaps, aligned to the size of an element. Of bytes and strings: their bytes. NULL only where
   * `bytes` is 0. */
  const void* data;
  const int64_t* shape;   /* of each axis; of bytes and strings, that of the strings */
  const int64_t* strides; /* of each axis, in elements (of bytes and strings: in strings) */
  uint64_t bytes;         /* that may be read from `data` on */
  /* Of bytes and strings: string i is the bytes offsets[i] to offsets[i + 1] of data; one number more than there are
   * strings. The first offset need not be 0, and no zero byte follows a string. Otherwise NULL. */
  const int64_t* offsets;
} headrace_tensor;

/* A column's type, as far as it is known. */
typedef struct headrace_type {
  uint32_t struct_size;
  int32_t dtype; /* a headrace_dtype */
  int32_t axes;  /* -1: their number is not known */
  uint32_t reserved;
  int64_t shape[HEADRACE_MOST_AXES]; /* of each axis; -1: differs from row to row */
} headrace_type;

#ifdef HEADRACE_WITH_DLPACK
/* The tensor as DLPack's, which shares its memory and is as read-only and short-lived as it is. Returns 0 and changes
 * nothing if DLPack has no such element type: bytes and strings, and those of later versions. */
static inline int headrace_to_dlpack(const headrace_tensor* tensor, DLTensor* dl) {
  /* In the order of headrace_dtype: code (0 int, 1 uint, 2 float, 4 bfloat, 6 bool) and bits. */
  static const uint8_t codes[] = {0, 6, 0, 0, 0, 0, 1, 1, 1, 1, 2, 4, 2, 2};
  static const uint8_t bits[] = {0, 8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64};
  if (tensor->dtype < 1 || tensor->dtype > 13) return 0;
  dl->data = (void*)tensor->data;
  dl->device.device_type = (DLDeviceType)tensor->device_type;
  dl->device.device_id = tensor->device_id;
  dl->ndim = tensor->axes;
  dl->dtype.code = codes[tensor->dtype];
  dl->dtype.bits = bits[tensor->dtype];
  dl->dtype.lanes = 1;
  dl->shape = (int64_t*)tensor->shape;
  dl->strides = (int64_t*)tensor->strides;
  dl->byte_offset = 0;
  return 1;
}
#endif

/* ---- Attributes ---- */

typedef enum headrace_attribute_type {
  HEADRACE_ATTRIBUTE_BOOL = 1,
  HEADRACE_ATTRIBUTE_INT = 2,
  HEADRACE_ATTRIBUTE_FLOAT = 3,
  HEADRACE_ATTRIBUTE_TEXT = 4,
  HEADRACE_ATTRIBUTE_INTS = 5,
  HEADRACE_ATTRIBUTE_FLOATS = 6,
  HEADRACE_ATTRIBUTE_TEXTS = 7,
  HEADRACE_ATTRIBUTE_DTYPE = 8 /* NumPy's name as text; the number is the headrace_dtype */
} headrace_attribute_type;

enum {
  HEADRACE_NULLABLE = 1,          /* None is allowed */
  HEADRACE_HAS_MINIMUM = 2,       /* the minimum bounds the number, or each number of a list */
  HEADRACE_HAS_MAXIMUM = 4,       /* the maximum does */
  HEADRACE_EXCLUSIVE_MINIMUM = 8, /* the minimum itself is refused */
  HEADRACE_BROADCAST = 16         /* of a list: one number stands for the longest of `lengths` */
};

/* A parameter of the operator. A sequence of them ends with NULL, and so does every sequence below. */
typedef struct headrace_attribute {
  uint32_t struct_size;
  int32_t type; /* a headrace_attribute_type */
  /* A Python name in small letters; neither "seed" nor "name", nor, of sources and formats, "shuffle", nor, of formats,
   * "patterns", "window", "interleave", "sharding" and "split_bytes". */
  const char* name;
  const char* doc;           /* one sentence */
  const char* default_value; /* in Python's notation: "1", "True", "'up'", "(0.5, 1.0)", "None"; NULL: required */
  uint64_t flags;            /* HEADRACE_NULLABLE and so on */
  double minimum;            /* of float and floats; of others 0 */
  double maximum;
  int64_t integer_minimum; /* of int and ints; of others 0. This version refuses bounds beyond 2^53 */
  int64_t integer_maximum;
  const char* const* choices; /* of a text; ends with NULL. NULL: any */
  const int32_t* lengths;     /* allowed lengths of a list; ends with 0. NULL: any */
} headrace_attribute;

/* The value of an attribute, checked against its declaration, the default filled in. */
typedef struct headrace_value {
  uint32_t struct_size;
  int32_t type;        /* the declared one */
  int32_t none;        /* 1: None, and nothing else is set */
  uint32_t count;      /* elements of a list, bytes of a text */
  int64_t integer;     /* of bool (0 or 1), int and dtype */
  double real;         /* of float */
  const char* text;    /* of text and dtype; ends with a zero byte */
  const int64_t* ints; /* of ints */
  const double* reals; /* of floats */
  const char* const* texts;
} headrace_value;

/* ---- The call of a callback, and what it may ask for ---- */

/* What a callback returns: HEADRACE_OK, or what kind of error its failure is. In Python each is an exception class. */
typedef enum headrace_result {
  HEADRACE_OK = 0,
  HEADRACE_DATA_ERROR = 1,        /* the row's bytes are not what they should be; on_error("skip") leaves it out */
  HEADRACE_NOT_FOUND_ERROR = 2,   /* a file is missing; on_error("skip") leaves the row out */
  HEADRACE_GRAPH_ERROR = 3,       /* an attribute, a dtype or a shape that cannot work */
  HEADRACE_RESOURCE_ERROR = 4,    /* memory, or another limit of the machine */
  HEADRACE_UNSUPPORTED_ERROR = 5, /* not possible here, or not with these options */
  HEADRACE_FUNCTION_ERROR = 6     /* any other; on_error("skip") leaves the row out */
} headrace_result;

/* One call of one callback. */
typedef struct headrace_call headrace_call;

/* Who a row is, whatever workers, ranks and restarts: what makes it random, and nothing else may. The callback sets
 * struct_size, and Headrace writes that many bytes or fewer. */
typedef struct headrace_identity {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t stream; /* of seed, operator and epoch */
  uint64_t key;    /* of the row in its source; of a batch, that of its first row */
} headrace_identity;

/* A file that a format reads; of version 1.1. */
typedef struct headrace_file headrace_file;

/* What Headrace offers to callbacks. Functions return HEADRACE_OK or an error, which the callback passes on: it has its
 * text already, and the call fails with it even if the callback goes on. fail() and stopped() are for every callback
 * that has a headrace_call, allocate() and give_strings() for apply() of kernels, read() of sources and next() of
 * formats, and the others for apply() alone, unless they say otherwise. */
typedef struct headrace_host {
  uint32_t struct_size;
  uint32_t abi; /* HEADRACE_PLUGIN_ABI of this Headrace */

  /* Says why the callback fails, and returns `result`: return host->fail(call, HEADRACE_DATA_ERROR, "is empty").
   * The text continues a sentence that begins with the kernel's name; it is copied, and cut after 4,096 bytes. Bytes
   * that are not UTF-8 are replaced. After it the callback returns the error, not HEADRACE_OK. */
  int32_t (*fail)(headrace_call* call, int32_t result, const char* text);

  /* Memory for output number `output`, of numbers; not initialised, aligned to 64 bytes, or to the size of an element
   * where it is a row's slot in a batch. Once for each output, of the type that infer() gives for these inputs, or
   * columns() for the rows. Of bools every byte but 0 counts as true. */
  int32_t (*allocate)(headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
                      void** data);
  /* An output of bytes or strings, which are copied: string i is the bytes offsets[i] to offsets[i + 1] of the
   * `value_bytes` bytes at `values`. */
  int32_t (*give_strings)(headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
                          const void* values, uint64_t value_bytes, const int64_t* offsets);
  /* Input number `input` as it is; nothing is copied. */
  int32_t (*give_input)(headrace_call* call, uint32_t output, uint32_t input);

  /* The row's own random numbers: Philox4x32-10, keyed by seed, operator and row, so that they depend on neither
   * thread nor order nor restart. For kernels with HEADRACE_RANDOM. Consecutive calls continue one stream.
   * 32 bits each: */
  int32_t (*random_bits)(headrace_call* call, uint32_t* words, uint64_t count);
  /* Uniform in [0, 1), 53 bits: */
  int32_t (*random_uniform)(headrace_call* call, double* numbers, uint64_t count);
  /* Uniform among 0 ... bound - 1: */
  int32_t (*random_below)(headrace_call* call, uint64_t bound, uint64_t* numbers, uint64_t count);
  /* Standard normal: */
  int32_t (*random_normal)(headrace_call* call, double* numbers, uint64_t count);
  /* The name of that stream, for a generator of the plugin's own. For kernels with HEADRACE_RANDOM: results of others
   * may be kept for other epochs. */
  int32_t (*identity)(headrace_call* call, headrace_identity* identity);

  /* For kernels with HEADRACE_BY_BATCH: a byte for each row of the batch, 1 where the row repeats another one so that
   * ranks take as many steps; such a row must not be joined with others. NULL and 0: there is none. */
  int32_t (*fillers)(headrace_call* call, const uint8_t** marks, uint64_t* count);

  /* 1 if the result is not needed any more, because the pipeline is closed: a long computation may then fail. */
  int32_t (*stopped)(headrace_call* call);

  /* The rest is of version 1.1. */

  /* For columns(): a column more, which is the output of that number, counted from 0. Of dtype and axes as in
   * headrace_type; a length of -1 differs from row to row. `shape` may be NULL if there are no axes. */
  int32_t (*add_column)(headrace_call* call, const char* name, int32_t dtype, int32_t axes, const int64_t* shape);

  /* For next(), once, before outputs: there is a row, and it takes the bytes `begin` to `end` of the file, at least
   * one. `begin` identifies the row, in its key, in states and in messages: it is at least the end of the row
   * before, and less than the `end` that open() was given. The row's own bytes may reach beyond that. Rows that share a
   * compressed block take one byte of it each. */
  int32_t (*begin_row)(headrace_call* call, int64_t begin, int64_t end);

  /* For find(), open() and next(), of the file that they were given. Its size in bytes when it was opened: */
  int32_t (*file_size)(headrace_call* call, const headrace_file* file, int64_t* bytes);
  /* Reads `bytes` bytes from `offset` on; an error of the data if the file ends before them. Consecutive reads
   * are cheap, however small: a block of the file is read at once, and the next one ahead. Others read what is asked
   * for, and wait for it. */
  int32_t (*read_file)(headrace_call* call, headrace_file* file, int64_t offset, uint64_t bytes, void* target);

  /* Notes of a row, for apply(): what a kernel found out that makes the row quicker the next time, such as places in
   * encoded bytes at which decoding can begin. The pipeline keeps them beside its caches, by the row and the step with
   * its attributes, in memory and in a folder for later runs, or keeps nothing: eager calls have no notes. A note may
   * have been made of other bytes, or been damaged: check it against the inputs before it is used. It must not change a
   * result. `key`, a text of the kernel's own, names one of its notes for a row.
   * Gives a note's bytes, valid until the next find_note() of this call and not aligned; NULL and 0: there is none. */
  int32_t (*find_note)(headrace_call* call, const char* key, const void** data, uint64_t* bytes);
  /* The bytes are copied, and may be kept; more than 16 MiB are not. They replace a shorter note of this key, and with
   * `wrong` 1, which says that find_note() gave one of other bytes or a damaged one, any. Without bytes no note is
   * left, and one that is there stays. */
  int32_t (*leave_note)(headrace_call* call, const char* key, const void* data, uint64_t bytes, int32_t wrong);
  /* Says that a note saved work, which explain() counts by rows. */
  int32_t (*count_note)(headrace_call* call);
} headrace_host;

/* ---- Kernels: from the tensors of a row to tensors of that row ---- */

enum {
  /* Draws random numbers: the class gets the parameters `seed` and `name`. */
  HEADRACE_RANDOM = 1,
  /* Gives different results for the same inputs, attributes and random numbers: no cache keeps them. */
  HEADRACE_NOT_DETERMINISTIC = 2,
  /* Joins the rows of a batch: works above batch() alone, and its tensors hold the rows along their first axis. Its
   * random numbers are those of the batch's identity. Other kernels treat a batch as one array. Its outputs have as
   * many rows as its inputs. */
  HEADRACE_BY_BATCH = 4,
  /* Takes one column, of any shape, and each element of an output, which has the same shape, depends on the element at
   * its place alone: so one call may process many small rows, as one tensor. Not with the traits above. */
  HEADRACE_POINTWISE = 8,
  /* Of version 1.1, and of sources alone: read() waits for a disk, a network or another process. It runs on threads of
   * their own, more of them where that is quicker. */
  HEADRACE_WAITS = 16
};

typedef struct headrace_kernel {
  uint32_t struct_size;
  uint32_t version;      /* 1, 2, ...: another one whenever results change, random numbers included */
  const char* name;      /* a Python class name: letters and digits, the first one large */
  const char* summary;   /* one sentence */
  const char* doc;       /* shapes, dtypes, units, ranges, errors; "\n" between paragraphs. NULL: none */
  const char* example;   /* a line of Python: "myops.Blur(3)". NULL: none */
  uint32_t least_inputs; /* columns; at least 1 */
  uint32_t most_inputs;  /* UINT32_MAX: any number */
  uint32_t outputs;      /* columns; at least 1 */
  uint32_t reserved;
  uint64_t traits;                             /* HEADRACE_RANDOM and so on */
  const headrace_attribute* const* attributes; /* ends with NULL. NULL: none */

  /* The types of the outputs, from those of the inputs: before anything runs, as far as they are known, and once rows
   * are there, where they are known fully. What it says of a row must fit what it said before. apply() gets only inputs
   * of types that infer() accepted, perhaps in an earlier call: answers are remembered. So it depends on its arguments
   * alone, and must be cheap, because it may be called often. `outputs` are unknown at first. `values` are the
   * attributes in the order of their declaration. */
  int32_t (*infer)(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                   uint32_t input_count, headrace_type* const* outputs);
  /* What apply() needs of the attributes; refuses combinations that cannot work. NULL: nothing, the state is NULL. It
   * may run several times for a pipeline, so that several states of equal attributes are alive. */
  int32_t (*create)(headrace_call* call, const headrace_value* const* values, void** state);
  /* Of a state that create() made without an error; any thread calls it, once. NULL: none is needed. */
  void (*destroy)(void* state);
  /* Makes each output by one of allocate(), give_strings() and give_input(). */
  int32_t (*apply)(headrace_call* call, const void* state, const headrace_tensor* const* inputs, uint32_t input_count);
} headrace_kernel;

/* ---- Sources with random access: rows by number; of version 1.1 ---- */

/* What an opened source has. Headrace sets struct_size and zeros, and open() the rest. */
typedef struct headrace_rows {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t count; /* of rows, the same in every epoch */
  /* A hash of what the rows are, as far as that is known without reading them all, such as of a file's size and time; a
   * state goes on only where it is the same. 0: not known. */
  uint64_t fingerprint;
} headrace_rows;

/* Shuffled by numbers, shared among ranks, and resumed at once. In Python a class with the attributes and `shuffle`,
 * `seed` and `name`. */
typedef struct headrace_source {
  uint32_t struct_size;
  uint32_t version;    /* as of a kernel */
  const char* name;    /* a Python class name */
  const char* summary; /* one sentence */
  const char* doc;     /* NULL: none */
  const char* example; /* "myops.Frames('a.db')". NULL: none */
  uint64_t traits;     /* HEADRACE_NOT_DETERMINISTIC, HEADRACE_WAITS */
  const headrace_attribute* const* attributes;

  /* Adds the columns of the rows, at least one, before anything runs. It depends on the attributes alone, and is cheap.
   */
  int32_t (*columns)(headrace_call* call, const headrace_value* const* values);
  /* Makes an instance for a run; several may be alive. The state may be NULL. */
  int32_t (*open)(headrace_call* call, const headrace_value* const* values, void** state, headrace_rows* rows);
  /* Of a state that open() made without an error, once. NULL: none is needed. */
  void (*destroy)(void* state);
  /* Makes each output of row `row`, which is less than the count, by allocate() or give_strings(), from any thread.
   * Each time the same, unless the traits say HEADRACE_NOT_DETERMINISTIC. */
  int32_t (*read)(headrace_call* call, const void* state, uint64_t row);
} headrace_source;

/* ---- Formats: files of rows, read in splits; of version 1.1 ---- */

/* A split is a run of bytes of a file, and has the rows that begin in it. Splits are chosen by size, before files are
 * looked at, and are read in any order, by any rank. In Python a class with `patterns`, the attributes, and `shuffle`,
 * `window`, `interleave`, `sharding`, `split_bytes`, `seed` and `name`, as headrace.Text has them. */
typedef struct headrace_format {
  uint32_t struct_size;
  uint32_t version; /* as of a kernel */
  const char* name;
  const char* summary;
  const char* doc;
  const char* example;
  uint64_t traits; /* 0 */
  const headrace_attribute* const* attributes;

  /* As of a source. */
  int32_t (*columns)(headrace_call* call, const headrace_value* const* values);
  /* What the others need of the attributes; as of a kernel. NULL: the state is NULL. */
  int32_t (*create)(headrace_call* call, const headrace_value* const* values, void** state);
  void (*destroy)(void* state);
  /* Where the first row begins that begins at byte `byte` of the file or after it; the file's size if there is none.
   * For a byte at which a row begins it gives that byte. NULL: that cannot be found out without reading from the start:
   * a file is one split, and a state is gone on from by reading it again. */
  int32_t (*find)(headrace_call* call, const void* state, headrace_file* file, int64_t byte, int64_t* begin);
  /* Makes a reader of the rows that begin in bytes `begin` to `end` of the file: `begin` is what find() gave, or 0
   * without it, and less than `end`, which is at most the file's size. */
  int32_t (*open)(headrace_call* call, const void* state, headrace_file* file, int64_t begin, int64_t end,
                  void** reader);
  /* Gives the next row: begin_row(), then each output by allocate() or give_strings(). If it returns HEADRACE_OK
   * without begin_row(), the split has no more. An error after begin_row() is that row's own, and next() is called for
   * the row after it where such rows are left out; an error before it ends the reading. */
  int32_t (*next)(headrace_call* call, void* reader, headrace_file* file);
  /* Of a reader that open() made without an error, once, in any state of it. NULL: none is needed. */
  void (*close)(void* reader);
} headrace_format;

/* ---- The plugin ---- */

typedef struct headrace_plugin {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name;                      /* a Python name in small letters: the first part of its operators' names */
  const char* version;                   /* for people: "1.2" */
  const char* doc;                       /* NULL: none */
  const headrace_kernel* const* kernels; /* ends with NULL. NULL: none */
  /* Of version 1.1: */
  const headrace_source* const* sources;
  const headrace_format* const* formats;
} headrace_plugin;

/* The two symbols that a plugin exports, and defines. The first is read before anything of the plugin is called (what
 * the library does when it is opened apart): HEADRACE_PLUGIN_ABI, or the number of an earlier minor version, if the
 * plugin can do without what came later. */
HEADRACE_PLUGIN_EXPORT extern const uint32_t headrace_plugin_abi;

/* Gives what the plugin has. `host_abi` is HEADRACE_PLUGIN_ABI of this Headrace, and `host` stays valid while the
 * process runs. A plugin that cannot be used here, on this machine for instance, says why, by host->fail(call,
 * HEADRACE_UNSUPPORTED_ERROR, "needs AVX-512"): the text continues a sentence that begins with the plugin. */
HEADRACE_PLUGIN_EXPORT int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* host, headrace_call* call,
                                                     const headrace_plugin** plugin);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HEADRACE_PLUGIN_H_ */
