/* A plugin for tests, in C: kernels of each kind that the interface has. Built by Bazel, and by one line of a compiler
 * in python/tests/test_plugins.py. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headrace_plugin.h"

static const headrace_host* host;

static int64_t ElementsOf(const headrace_tensor* tensor) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < tensor->axes; ++axis) elements *= tensor->shape[axis];
  return elements;
}

/* ---- Scale: float32 of any shape, times a factor ---- */

static int32_t InferFloats(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                           uint32_t input_count, headrace_type* const* outputs) {
  (void)values, (void)input_count;
  if (inputs[0]->dtype != HEADRACE_FLOAT32 && inputs[0]->dtype != HEADRACE_UNKNOWN) {
    return host->fail(call, HEADRACE_GRAPH_ERROR, "takes float32");
  }
  outputs[0]->dtype = HEADRACE_FLOAT32;
  outputs[0]->axes = inputs[0]->axes;
  memcpy(outputs[0]->shape, inputs[0]->shape, sizeof(outputs[0]->shape));
  return HEADRACE_OK;
}

static int32_t CreateScale(headrace_call* call, const headrace_value* const* values, void** state) {
  float* factor;
  if (values[0]->real == 13) return host->fail(call, HEADRACE_GRAPH_ERROR, "does not scale by 13");
  factor = (float*)malloc(sizeof(float));
  if (factor == NULL) return host->fail(call, HEADRACE_RESOURCE_ERROR, "finds no memory");
  *factor = (float)values[0]->real;
  *state = factor;
  return HEADRACE_OK;
}

static int32_t ApplyScale(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                          uint32_t input_count) {
  const float* from = (const float*)inputs[0]->data;
  const int64_t elements = ElementsOf(inputs[0]);
  void* memory = NULL;
  float* to;
  int32_t failed;
  (void)input_count;
  for (int64_t i = 0; i < elements; ++i) {
    if (isnan(from[i])) return host->fail(call, HEADRACE_DATA_ERROR, "holds NaN");
  }
  failed = host->allocate(call, 0, HEADRACE_FLOAT32, inputs[0]->axes, inputs[0]->shape, &memory);
  if (failed != HEADRACE_OK) return failed;
  to = (float*)memory;
  for (int64_t i = 0; i < elements; ++i) to[i] = from[i] * *(const float*)state;
  return HEADRACE_OK;
}

static const headrace_attribute factor = {
    .struct_size = sizeof(headrace_attribute),
    .type = HEADRACE_ATTRIBUTE_FLOAT,
    .name = "factor",
    .doc = "What each number is multiplied by.",
    .default_value = "2.0",
    .flags = HEADRACE_HAS_MINIMUM | HEADRACE_EXCLUSIVE_MINIMUM,
    .minimum = 0,
};
static const headrace_attribute* const scale_attributes[] = {&factor, NULL};
static const headrace_kernel scale = {
    .struct_size = sizeof(headrace_kernel),
    .version = 2,
    .name = "Scale",
    .summary = "Multiplies by a factor.",
    .doc = "Takes float32 of any shape and gives the same.\nErrors: NaN, as a DataError.",
    .example = "myops.Scale(0.5)",
    .least_inputs = 1,
    .most_inputs = 1,
    .outputs = 1,
    .attributes = scale_attributes,
    .infer = InferFloats,
    .create = CreateScale,
    .destroy = free,
    .apply = ApplyScale,
};

/* ---- Noise: adds random numbers of every kind; `kept` leaves some rows as they are ---- */

static int32_t ApplyNoise(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                          uint32_t input_count) {
  const float* from = (const float*)inputs[0]->data;
  const int64_t elements = ElementsOf(inputs[0]);
  void* memory = NULL;
  uint32_t word = 0;
  uint64_t die = 0;
  double uniform = 0;
  double normal = 0;
  headrace_identity identity = {.struct_size = sizeof(identity)};
  (void)state, (void)input_count;
  if (host->random_bits(call, &word, 1) != HEADRACE_OK) return HEADRACE_FUNCTION_ERROR;
  if (word % 4 == 0) return host->give_input(call, 0, 0);
  host->identity(call, &identity);
  if (host->allocate(call, 0, HEADRACE_FLOAT32, inputs[0]->axes, inputs[0]->shape, &memory) != HEADRACE_OK) {
    return HEADRACE_FUNCTION_ERROR;
  }
  for (int64_t i = 0; i < elements; ++i) {
    host->random_uniform(call, &uniform, 1);
    host->random_normal(call, &normal, 1);
    host->random_below(call, 6, &die, 1);
    ((float*)memory)[i] = (float)(from[i] + uniform + normal + (double)die + (double)(identity.key % 7));
  }
  return HEADRACE_OK;
}

static const headrace_kernel noise = {
    .struct_size = sizeof(headrace_kernel),
    .version = 1,
    .name = "Noise",
    .summary = "Adds noise to three rows of four.",
    .example = "myops.Noise()",
    .least_inputs = 1,
    .most_inputs = 1,
    .outputs = 1,
    .traits = HEADRACE_RANDOM,
    .infer = InferFloats,
    .apply = ApplyNoise,
};

/* ---- Range: the least and the largest of all columns ---- */

static int32_t InferRange(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                          uint32_t input_count, headrace_type* const* outputs) {
  (void)values;
  for (uint32_t i = 0; i < input_count; ++i) {
    if (inputs[i]->dtype != HEADRACE_INT64) return host->fail(call, HEADRACE_GRAPH_ERROR, "takes int64");
  }
  for (int i = 0; i < 2; ++i) {
    outputs[i]->dtype = HEADRACE_INT64;
    outputs[i]->axes = 0;
  }
  return HEADRACE_OK;
}

static int32_t ApplyRange(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                          uint32_t input_count) {
  int64_t range[2] = {INT64_MAX, INT64_MIN};
  (void)state;
  for (uint32_t i = 0; i < input_count; ++i) {
    const int64_t* numbers = (const int64_t*)inputs[i]->data;
    for (int64_t k = 0; k < ElementsOf(inputs[i]); ++k) {
      if (numbers[k] < range[0]) range[0] = numbers[k];
      if (numbers[k] > range[1]) range[1] = numbers[k];
    }
  }
  for (uint32_t i = 0; i < 2; ++i) {
    void* memory = NULL;
    const int32_t failed = host->allocate(call, i, HEADRACE_INT64, 0, NULL, &memory);
    if (failed != HEADRACE_OK) return failed;
    memcpy(memory, &range[i], sizeof(int64_t));
  }
  return HEADRACE_OK;
}

static const headrace_kernel range = {
    .struct_size = sizeof(headrace_kernel),
    .version = 1,
    .name = "Range",
    .summary = "The least and the largest number of several columns.",
    .least_inputs = 1,
    .most_inputs = UINT32_MAX,
    .outputs = 2,
    .infer = InferRange,
    .apply = ApplyRange,
};

/* ---- Words: the words of a text ---- */

static int32_t InferWords(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                          uint32_t input_count, headrace_type* const* outputs) {
  (void)values, (void)input_count;
  if (inputs[0]->dtype != HEADRACE_STRING || inputs[0]->axes > 0) {
    return host->fail(call, HEADRACE_GRAPH_ERROR, "takes a text");
  }
  outputs[0]->dtype = HEADRACE_STRING;
  outputs[0]->axes = 1;
  outputs[0]->shape[0] = -1;
  return HEADRACE_OK;
}

static int32_t ApplyWords(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                          uint32_t input_count) {
  const char* text = (const char*)inputs[0]->data;
  const int64_t end = inputs[0]->offsets[1];
  int64_t words = 0;
  int64_t at = inputs[0]->offsets[0];
  int64_t* offsets = (int64_t*)malloc((size_t)(end - at + 2) * sizeof(int64_t));
  char* letters = (char*)malloc((size_t)(end - at + 1));
  int64_t length = 0;
  int32_t result;
  (void)state, (void)input_count;
  while (at < end) {
    while (at < end && text[at] == ' ') ++at;
    if (at == end) break;
    offsets[words++] = length;
    while (at < end && text[at] != ' ') letters[length++] = text[at++];
  }
  offsets[words] = length;
  result = host->give_strings(call, 0, HEADRACE_STRING, 1, &words, letters, (uint64_t)length, offsets);
  free(offsets);
  free(letters);
  return result;
}

static const headrace_kernel words = {
    .struct_size = sizeof(headrace_kernel),
    .version = 1,
    .name = "Words",
    .summary = "Splits a text at its blanks.",
    .least_inputs = 1,
    .most_inputs = 1,
    .outputs = 1,
    .infer = InferWords,
    .apply = ApplyWords,
};

/* ---- Settings: its attributes, as a text; they are all it takes ---- */

typedef struct Text {
  char letters[1000];
  size_t used;
} Text;

/* Cuts off what does not fit. */
static void Append(Text* text, const char* format, ...) {
  const size_t left = sizeof(text->letters) - text->used;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text->letters + text->used, left, format, arguments);
  va_end(arguments);
  if (length > 0) text->used += (size_t)length < left ? (size_t)length : left - 1;
}

static int32_t CreateSettings(headrace_call* call, const headrace_value* const* values, void** state) {
  Text* text = (Text*)calloc(1, sizeof(Text));
  (void)call;
  for (; *values != NULL; ++values) {
    const headrace_value* value = *values;
    if (value->none) {
      Append(text, "None;");
      continue;
    }
    switch (value->type) {
      case HEADRACE_ATTRIBUTE_BOOL:
      case HEADRACE_ATTRIBUTE_INT:
        Append(text, "%lld;", (long long)value->integer);
        break;
      case HEADRACE_ATTRIBUTE_TEXT:
        Append(text, "%s %u;", value->text, value->count);
        break;
      case HEADRACE_ATTRIBUTE_DTYPE:
        Append(text, "%s %lld;", value->text, (long long)value->integer);
        break;
      case HEADRACE_ATTRIBUTE_INTS:
        for (uint32_t i = 0; i < value->count; ++i) Append(text, "%lld ", (long long)value->ints[i]);
        Append(text, ";");
        break;
      case HEADRACE_ATTRIBUTE_FLOATS:
        for (uint32_t i = 0; i < value->count; ++i) Append(text, "%g ", value->reals[i]);
        Append(text, ";");
        break;
      case HEADRACE_ATTRIBUTE_TEXTS:
        for (const char* const* each = value->texts; *each != NULL; ++each) Append(text, "%s ", *each);
        Append(text, ";");
        break;
    }
  }
  *state = text;
  return HEADRACE_OK;
}

static int32_t InferText(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                         uint32_t input_count, headrace_type* const* outputs) {
  (void)call, (void)values, (void)inputs, (void)input_count;
  outputs[0]->dtype = HEADRACE_STRING;
  outputs[0]->axes = 0;
  return HEADRACE_OK;
}

static int32_t ApplySettings(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                             uint32_t input_count) {
  const Text* text = (const Text*)state;
  const int64_t offsets[2] = {0, (int64_t)strlen(text->letters)};
  (void)inputs, (void)input_count;
  return host->give_strings(call, 0, HEADRACE_STRING, 0, NULL, text->letters, (uint64_t)offsets[1], offsets);
}

#define ATTRIBUTE(variable, kind, default_, ...)                                         \
  static const headrace_attribute variable = {.struct_size = sizeof(headrace_attribute), \
                                              .type = HEADRACE_ATTRIBUTE_##kind,         \
                                              .name = #variable,                         \
                                              .doc = "One " #kind ".",                   \
                                              .default_value = default_,                 \
                                              __VA_ARGS__}
static const char* const modes[] = {"up", "down", NULL};
static const int32_t pair[] = {2, 0};
ATTRIBUTE(flag, BOOL, NULL, .flags = 0);
ATTRIBUTE(number, INT, "None", .flags = HEADRACE_NULLABLE | HEADRACE_HAS_MINIMUM | HEADRACE_HAS_MAXIMUM,
          .integer_minimum = -3, .integer_maximum = 9);
ATTRIBUTE(mode, TEXT, "'up'", .choices = modes);
ATTRIBUTE(size, INTS, "(3, 4)", .flags = HEADRACE_BROADCAST, .lengths = pair);
ATTRIBUTE(reals, FLOATS, "(0.5,)", .flags = 0);
ATTRIBUTE(names, TEXTS, "('a', 'b')", .flags = 0);
ATTRIBUTE(dtype, DTYPE, "'float32'", .flags = 0);
static const headrace_attribute* const settings_attributes[] = {&flag,  &number, &mode,  &size,
                                                                &reals, &names,  &dtype, NULL};
static const headrace_kernel settings = {
    .struct_size = sizeof(headrace_kernel),
    .version = 1,
    .name = "Settings",
    .summary = "Its attributes as a text.",
    .least_inputs = 1,
    .most_inputs = 1,
    .outputs = 1,
    .attributes = settings_attributes,
    .infer = InferText,
    .create = CreateSettings,
    .destroy = free,
    .apply = ApplySettings,
};

/* ---- Center: subtracts the mean of the batch's rows, fillers apart ---- */

static int32_t ApplyCenter(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                           uint32_t input_count) {
  const float* from = (const float*)inputs[0]->data;
  const int64_t rows = inputs[0]->shape[0];
  const int64_t width = rows == 0 ? 0 : ElementsOf(inputs[0]) / rows;
  const uint8_t* marks = NULL;
  uint64_t count = 0;
  void* memory = NULL;
  int32_t failed = host->fillers(call, &marks, &count);
  (void)state, (void)input_count;
  if (failed == HEADRACE_OK) {
    failed = host->allocate(call, 0, HEADRACE_FLOAT32, inputs[0]->axes, inputs[0]->shape, &memory);
  }
  if (failed != HEADRACE_OK) return failed;
  memcpy(memory, from, (size_t)(rows * width) * sizeof(float));
  for (int64_t k = 0; k < width; ++k) {
    double sum = 0;
    int64_t summed = 0;
    for (int64_t row = 0; row < rows; ++row) {
      if (marks != NULL && marks[row]) continue;
      sum += from[row * width + k];
      ++summed;
    }
    for (int64_t row = 0; row < rows; ++row) {
      if (marks != NULL && marks[row]) continue;
      ((float*)memory)[row * width + k] -= (float)(sum / (double)summed);
    }
  }
  return HEADRACE_OK;
}

static const headrace_kernel center = {
    .struct_size = sizeof(headrace_kernel),
    .version = 1,
    .name = "Center",
    .summary = "Subtracts the mean of the batch.",
    .least_inputs = 1,
    .most_inputs = 1,
    .outputs = 1,
    .traits = HEADRACE_BY_BATCH,
    .infer = InferFloats,
    .apply = ApplyCenter,
};

static const headrace_kernel* const kernels[] = {&center, &scale, &noise, &range, &words, &settings, NULL};
static const headrace_plugin plugin = {
    .struct_size = sizeof(headrace_plugin),
    .name = "myops",
    .version = "1.2",
    .doc = "Kernels for tests.",
    .kernels = kernels,
};

const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;

int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* given, headrace_call* call,
                              const headrace_plugin** result) {
  (void)host_abi, (void)call;
  host = given;
  *result = &plugin;
  return HEADRACE_OK;
}
