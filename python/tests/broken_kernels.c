/* A plugin for python/tests/test_check_plugin.py: one kernel that keeps the rules, and kernels that break one each. All
 * take float32 of any shape and give the same, unless they say otherwise. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headrace_plugin.h"

static const headrace_host* host;

static int64_t ElementsOf(const headrace_tensor* tensor) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < tensor->axes; ++axis) elements *= tensor->shape[axis];
  return elements;
}

#define INFER(name)                                                                                                 \
  static int32_t name(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs, \
                      uint32_t count, headrace_type* const* outputs)
#define APPLY(name) \
  static int32_t name(headrace_call* call, const void* state, const headrace_tensor* const* inputs, uint32_t count)

INFER(InferSame) {
  (void)values, (void)count;
  if (inputs[0]->dtype != HEADRACE_FLOAT32) return host->fail(call, HEADRACE_GRAPH_ERROR, "takes float32");
  outputs[0]->dtype = HEADRACE_FLOAT32;
  outputs[0]->axes = inputs[0]->axes;
  memcpy(outputs[0]->shape, inputs[0]->shape, sizeof(outputs[0]->shape));
  return HEADRACE_OK;
}

/* A copy of the input; NULL: an error of the host's, which the callback returns. */
static float* Copied(headrace_call* call, const headrace_tensor* input, int32_t* failed) {
  void* memory = NULL;
  *failed = host->allocate(call, 0, HEADRACE_FLOAT32, input->axes, input->shape, &memory);
  if (*failed != HEADRACE_OK) return NULL;
  if (input->bytes > 0) memcpy(memory, input->data, input->bytes);
  return (float*)memory;
}

#define COPY                                    \
  int32_t failed;                               \
  const int64_t n = ElementsOf(inputs[0]);      \
  float* to = Copied(call, inputs[0], &failed); \
  (void)state, (void)count, (void)n;            \
  if (to == NULL) return failed

APPLY(Right) {
  COPY;
  return HEADRACE_OK;
}

APPLY(Overruns) {
  COPY;
  ((volatile char*)to)[n * 4] = 1;
  return HEADRACE_OK;
}

APPLY(OverrunsEmpty) {
  COPY;
  if (n == 0) *(volatile char*)to = 1;
  return HEADRACE_OK;
}

APPLY(Fails) {
  (void)state, (void)inputs, (void)count;
  return host->fail(call, HEADRACE_DATA_ERROR, "no");
}

APPLY(Overreads) {
  COPY;
  for (int64_t i = 0; i < n; ++i) to[i] = ((const volatile float*)inputs[0]->data)[i + 1] * 0;
  return HEADRACE_OK;
}

APPLY(Spoils) {
  COPY;
  if (n > 0) ((float*)inputs[0]->data)[0] += 1;
  return HEADRACE_OK;
}

APPLY(Unwritten) {
  void* memory = NULL;
  const int64_t n = ElementsOf(inputs[0]);
  const int32_t failed = host->allocate(call, 0, HEADRACE_FLOAT32, inputs[0]->axes, inputs[0]->shape, &memory);
  (void)state, (void)count;
  if (failed != HEADRACE_OK) return failed;
  for (int64_t i = 0; i + 1 < n; ++i) ((float*)memory)[i] = 0;
  return HEADRACE_OK;
}

INFER(InferOther) {
  const int32_t failed = InferSame(call, values, inputs, count, outputs);
  if (outputs[0]->axes > 0 && outputs[0]->shape[0] > 0) ++outputs[0]->shape[0];
  return failed;
}

INFER(InferTooMuch) {
  const int32_t failed = InferSame(call, values, inputs, count, outputs);
  for (int32_t axis = 0; axis < outputs[0]->axes; ++axis) {
    if (outputs[0]->shape[axis] == -1) outputs[0]->shape[axis] = 1;
  }
  return failed;
}

APPLY(Counts) {
  static int calls = 0;
  COPY;
  if (n > 0) to[0] = (float)++calls;
  return HEADRACE_OK;
}

/* Right in one thread, in which the first call of each tells nothing. */
APPLY(CountsThreads) {
  static int threads = 0;
  static _Thread_local int number = 0;
  COPY;
  if (number == 0) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  if (n > 0) to[0] = (float)number;
  return HEADRACE_OK;
}

APPLY(Rands) {
  COPY;
  if (n > 0) to[0] = (float)rand();
  return HEADRACE_OK;
}

APPLY(Draws) {
  uint32_t word = 0;
  COPY;
  return host->random_bits(call, &word, 1);
}

APPLY(Leaks) {
  volatile char* kept = (volatile char*)malloc(40);
  COPY;
  if (kept != NULL) kept[0] = 1;
  return HEADRACE_OK;
}

static int32_t Keep(headrace_call* call, const headrace_value* const* values, void** state) {
  (void)call, (void)values;
  *state = malloc(100);
  return HEADRACE_OK;
}

APPLY(Divides) {
  COPY;
  *(volatile float*)(n > 0 ? to : &(float){0}) = (float)(1000 / n);
  return HEADRACE_OK;
}

APPLY(Hangs) {
  COPY;
  while (n == 1) pause();
  return HEADRACE_OK;
}

static int32_t RefuseFour(headrace_call* call, const headrace_value* const* values, void** state) {
  (void)state;
  return values[0]->integer == 4 ? host->fail(call, HEADRACE_GRAPH_ERROR, "has no table 4") : HEADRACE_OK;
}

static int32_t LookUp(headrace_call* call, const headrace_value* const* values, void** state) {
  static const int table[] = {1, 2, 3};
  (void)call;
  *state = ((const volatile int*)table)[values[0]->integer] > 100 ? host->fail : NULL;
  return HEADRACE_OK;
}

APPLY(Silent) {
  COPY;
  for (int64_t i = 0; i < n; ++i) {
    if (isnan(to[i])) return HEADRACE_DATA_ERROR;
  }
  return HEADRACE_OK;
}

APPLY(Ignores) {
  void* memory = NULL;
  host->allocate(call, 0, HEADRACE_FLOAT32, inputs[0]->axes, inputs[0]->shape, &memory);
  (void)state, (void)count;
  memset(memory, 0, inputs[0]->bytes);
  return HEADRACE_OK;
}

APPLY(Sums) {
  COPY;
  for (int64_t i = 1; i < n; ++i) to[i] += to[i - 1];
  return HEADRACE_OK;
}

APPLY(Joins) {
  COPY;
  if (n > 0) to[0] += to[n - 1];
  return HEADRACE_OK;
}

INFER(InferByData) {
  (void)values, (void)count, (void)outputs;
  if (inputs[0]->dtype == HEADRACE_FLOAT32) return InferSame(call, values, inputs, count, outputs);
  return host->fail(call, HEADRACE_DATA_ERROR, "cannot read it");
}

#define ATTRIBUTE(variable, bounds)                                                      \
  static const headrace_attribute variable = {.struct_size = sizeof(headrace_attribute), \
                                              .type = HEADRACE_ATTRIBUTE_INT,            \
                                              .name = "size",                            \
                                              .doc = "One of 4.",                        \
                                              .default_value = "2",                      \
                                              .flags = bounds,                           \
                                              .integer_minimum = bounds ? 1 : 0,         \
                                              .integer_maximum = bounds ? 4 : 0};        \
  static const headrace_attribute* const variable##_alone[] = {&variable, NULL}
ATTRIBUTE(bounded, HEADRACE_HAS_MINIMUM | HEADRACE_HAS_MAXIMUM);
ATTRIBUTE(unbounded, 0);

#define KERNEL(called, ...)                                        \
  &(const headrace_kernel){.struct_size = sizeof(headrace_kernel), \
                           .version = 1,                           \
                           .name = #called,                        \
                           .summary = "Breaks a rule.",            \
                           .least_inputs = 1,                      \
                           .most_inputs = 1,                       \
                           .outputs = 1,                           \
                           .infer = InferSame,                     \
                           .apply = called,                        \
                           __VA_ARGS__}

#pragma GCC diagnostic ignored "-Woverride-init"
static const headrace_kernel* const kernels[] = {
    KERNEL(Right, .attributes = bounded_alone),
    KERNEL(CountsThreads),
    KERNEL(Hangs),
    KERNEL(Right, .name = "ByData", .infer = InferByData),
#ifndef FEW /* loading many takes long */
    KERNEL(Overruns),
    KERNEL(OverrunsEmpty),
    KERNEL(Fails),
    KERNEL(Overreads),
    KERNEL(Spoils),
    KERNEL(Unwritten),
    KERNEL(Right, .name = "OtherShape", .infer = InferOther),
    KERNEL(Right, .name = "TooMuch", .infer = InferTooMuch),
    KERNEL(Counts),
    KERNEL(Rands),
    KERNEL(Rands, .name = "RandsAsRandom", .traits = HEADRACE_RANDOM),
    KERNEL(Right, .name = "NeverDraws", .traits = HEADRACE_RANDOM),
    KERNEL(Draws),
    KERNEL(Leaks),
    KERNEL(Right, .name = "Keeps", .create = Keep),
    KERNEL(Divides),
    KERNEL(Right, .name = "RefusesFour", .attributes = bounded_alone, .create = RefuseFour),
    KERNEL(Right, .name = "LooksUp", .attributes = unbounded_alone, .create = LookUp),
    KERNEL(Silent),
    KERNEL(Ignores),
    KERNEL(Sums, .traits = HEADRACE_POINTWISE),
    KERNEL(Joins, .traits = HEADRACE_BY_BATCH),
#endif
    NULL,
};
static const headrace_plugin plugin = {
    .struct_size = sizeof(headrace_plugin), .name = "brokenops", .version = "1", .kernels = kernels};

const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;

int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* given, headrace_call* call,
                              const headrace_plugin** result) {
  (void)host_abi, (void)call;
  host = given;
  *result = &plugin;
  return HEADRACE_OK;
}
