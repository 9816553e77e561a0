/* Operators built outside: the C interface between Headrace and a plugin, a shared library that hr.load_plugin() opens.
 *
 * A plugin includes this header alone and links nothing of Headrace's. It exports one symbol, headrace_plugin_query(),
 * which returns what the plugin has, as data. Headrace makes Python classes, checks, defaults, documentation and
 * messages of it; in graphs a kernel is called "PLUGIN.Kernel" and has its version.
 *
 * Versions. HEADRACE_PLUGIN_ABI is major * 65536 + minor. A plugin works with every Headrace of the same major version
 * and of its minor version or a later one. Every structure begins with its size, as the compiler of that side sees it:
 * later minor versions append fields, which a side that does not know them neither reads nor writes. Structures are
 * therefore given by pointer, never in arrays of values. Zero means "none" in every field that is not set.
 *
 * Threads. headrace_plugin_query() is called once, by one thread. Every other callback may be called by any thread and
 * by several at once, also with the same state: a state is not changed after it was created. A callback must not throw,
 * longjmp, fork, or end its thread, and must return: nothing can interrupt it. A headrace_call and the pointers that a
 * callback is given are valid until it returns, and for its own thread alone.
 *
 * Memory. What the plugin declares stays valid and unchanged while the process runs; the library is never unloaded.
 * Inputs are read-only. Outputs are in memory of Headrace's, often a row's place in its batch, so that nothing is
 * copied: a kernel writes as many bytes as it asked for. */
#ifndef HEADRACE_PLUGIN_H_
#define HEADRACE_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#define HEADRACE_PLUGIN_ABI_MAJOR 1
#define HEADRACE_PLUGIN_ABI_MINOR 0
#define HEADRACE_PLUGIN_ABI ((uint32_t)HEADRACE_PLUGIN_ABI_MAJOR << 16 | HEADRACE_PLUGIN_ABI_MINOR)

#if defined(_WIN32)
#define HEADRACE_PLUGIN_EXPORT __declspec(dllexport)
#else
#define HEADRACE_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* The most axes of a tensor. */
#define HEADRACE_MOST_AXES 32

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack 1.0 (github.com/dmlc/dlpack): tensors. A plugin that uses DLPack's own header includes it first. ---- */

#ifndef DLPACK_DLPACK_H_
typedef struct DLDevice {
  int32_t device_type; /* 1: the host's memory */
  int32_t device_id;
} DLDevice;

typedef struct DLDataType {
  uint8_t code; /* 0 int, 1 uint, 2 float, 3 opaque (bytes and strings), 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
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

/* A tensor in the host's memory, row-major and without gaps: dl.strides is NULL and dl.byte_offset 0. */
typedef struct headrace_tensor {
  uint32_t struct_size;
  int32_t dtype; /* a headrace_dtype */
  /* Of bytes and strings: the shape is that of the strings, and data their bytes. */
  DLTensor dl;
  /* Of bytes and strings: string i is the bytes offsets[i] to offsets[i + 1] of data; one number more than there are
   * strings. Otherwise NULL. */
  const int64_t* offsets;
} headrace_tensor;

/* A column's type, as far as it is known. */
typedef struct headrace_type {
  uint32_t struct_size;
  int32_t dtype;                     /* a headrace_dtype */
  int32_t axes;                      /* -1: their number is not known */
  int64_t shape[HEADRACE_MOST_AXES]; /* of each axis; -1: differs from row to row */
} headrace_type;

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
  HEADRACE_HAS_MINIMUM = 2,       /* `minimum` bounds the number, or each number of a list */
  HEADRACE_HAS_MAXIMUM = 4,       /* `maximum` does */
  HEADRACE_EXCLUSIVE_MINIMUM = 8, /* the minimum itself is refused */
  HEADRACE_BROADCAST = 16         /* of a list: one number stands for the longest of `lengths` */
};

/* A parameter of the kernel. A sequence of them ends with NULL, and so does every sequence below. */
typedef struct headrace_attribute {
  uint32_t struct_size;
  int32_t type;              /* a headrace_attribute_type */
  const char* name;          /* a Python name in small letters; neither "seed" nor "name" */
  const char* doc;           /* one sentence */
  const char* default_value; /* in Python's notation: "1", "True", "'up'", "(0.5, 1.0)", "None"; NULL: required */
  uint64_t flags;            /* HEADRACE_NULLABLE and so on */
  double minimum;
  double maximum;
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

/* Who a row is, whatever workers, ranks and restarts: what makes it random, and nothing else may. */
typedef struct headrace_identity {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t stream; /* of seed, operator and epoch */
  uint64_t key;    /* of the row in its source; of a batch, that of its first row */
} headrace_identity;

/* What Headrace offers to callbacks. Functions return HEADRACE_OK or an error, which the callback passes on: it has its
 * text already. All but fail() are for apply() alone. */
typedef struct headrace_host {
  uint32_t struct_size;
  uint32_t abi; /* HEADRACE_PLUGIN_ABI of this Headrace */

  /* Says why the callback fails, and returns `result`: return host->fail(call, HEADRACE_DATA_ERROR, "is empty").
   * The text continues a sentence that begins with the kernel's name; it is copied, and cut behind 4,096 bytes. */
  int32_t (*fail)(headrace_call* call, int32_t result, const char* text);

  /* Memory for output number `output`, of numbers; not initialised, aligned to 64 bytes unless it is a row's place in a
   * batch. Once for each output, of the type that infer() gives for these inputs. */
  int32_t (*allocate)(headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
                      void** data);
  /* An output of bytes or strings, which are copied: string i is the bytes offsets[i] to offsets[i + 1] of `values`. */
  int32_t (*give_strings)(headrace_call* call, uint32_t output, int32_t dtype, int32_t axes, const int64_t* shape,
                          const void* values, const int64_t* offsets);
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
} headrace_host;

/* ---- Kernels: from the tensors of a row to tensors of that row ---- */

enum {
  /* Draws random numbers: the class gets the parameters `seed` and `name`. */
  HEADRACE_RANDOM = 1,
  /* Gives different results for the same inputs, attributes and random numbers: no cache keeps them. */
  HEADRACE_NOT_DETERMINISTIC = 2,
  /* Joins the rows of a batch: works above batch() alone, and its tensors hold the rows along their first axis. Its
   * random numbers are those of the batch's identity. Other kernels treat a batch as one array. */
  HEADRACE_BY_BATCH = 4
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

  /* The types of the outputs, from those of the inputs: before anything runs, as far as they are known, and for each
   * row, where they are known fully. So apply() gets only inputs that infer() accepted. `outputs` are unknown at first.
   * `values` are the attributes in the order of their declaration. */
  int32_t (*infer)(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                   uint32_t input_count, headrace_type* const* outputs);
  /* What apply() needs of the attributes; refuses combinations that cannot work. NULL: nothing, the state is NULL. */
  int32_t (*create)(headrace_call* call, const headrace_value* const* values, void** state);
  /* Of a state; NULL: none is needed. */
  void (*destroy)(void* state);
  /* Makes each output by one of allocate(), give_strings() and give_input(). */
  int32_t (*apply)(headrace_call* call, const void* state, const headrace_tensor* const* inputs, uint32_t input_count);
} headrace_kernel;

/* ---- The plugin ---- */

typedef struct headrace_plugin {
  uint32_t struct_size;
  uint32_t abi;                          /* HEADRACE_PLUGIN_ABI */
  const char* name;                      /* a Python name in small letters: the first part of its operators' names */
  const char* version;                   /* for people: "1.2" */
  const char* doc;                       /* NULL: none */
  const headrace_kernel* const* kernels; /* ends with NULL. NULL: none */
} headrace_plugin;

/* The one symbol that a plugin exports. `host` stays valid while the process runs. NULL: the plugin cannot be used
 * here, for instance because host->abi is too old for it. */
HEADRACE_PLUGIN_EXPORT const headrace_plugin* headrace_plugin_query(const headrace_host* host);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HEADRACE_PLUGIN_H_ */
