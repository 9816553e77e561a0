// A plugin for tests that breaks the rules of the interface when rows run, as the attribute `fault` says.
#include <atomic>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "headrace_plugin.h"

namespace {

const headrace_host* host;

std::atomic<int> inferences = 0;

bool Is(const char* fault, const char* name) { return std::strcmp(fault, name) == 0; }

int32_t Infer(headrace_call* call, const headrace_value* const* values, const headrace_type* const*, uint32_t,
              headrace_type* const* outputs) {
  const char* const fault = values[0]->text;
  if (Is(fault, "infer throws")) throw std::runtime_error("no types today");
  if (Is(fault, "infer allocates")) {
    void* memory = nullptr;
    return host->allocate(call, 0, HEADRACE_INT64, 0, nullptr, &memory);
  }
  outputs[0]->dtype = Is(fault, "infer dtype") ? 77 : HEADRACE_INT64;
  outputs[0]->axes = Is(fault, "infer axes") ? 33 : 1;
  outputs[0]->shape[0] = Is(fault, "infer length") ? -2 : 3;
  if (Is(fault, "open") || Is(fault, "empty axis")) outputs[0]->axes = -1;
  if (Is(fault, "infer reserved")) outputs[0]->reserved = 1;
  // A row's own type is another one than that before the run, of which the plugin says float64.
  if (Is(fault, "infer changes") && ++inferences == 1) outputs[0]->dtype = HEADRACE_FLOAT64;
  return HEADRACE_OK;
}

int32_t Create(headrace_call*, const headrace_value* const* values, void** state) {
  if (Is(values[0]->text, "create throws")) throw std::bad_alloc();
  *state = const_cast<char*>(values[0]->text);
  return HEADRACE_OK;
}

int32_t Apply(headrace_call* call, const void* state, const headrace_tensor* const*, uint32_t) {
  const auto* const fault = static_cast<const char*>(state);
  int64_t shape[33] = {3};
  void* memory = nullptr;
  if (Is(fault, "throws")) throw std::out_of_range("row");
  if (Is(fault, "throws int")) throw 3;  // NOLINT
  if (Is(fault, "no memory")) throw std::bad_alloc();
  if (Is(fault, "returns 99")) return 99;
  if (Is(fault, "silent")) return HEADRACE_DATA_ERROR;
  if (Is(fault, "data")) return host->fail(call, HEADRACE_DATA_ERROR, "cannot read it");
  if (Is(fault, "not found")) return host->fail(call, HEADRACE_NOT_FOUND_ERROR, "misses its model");
  if (Is(fault, "graph")) return host->fail(call, HEADRACE_GRAPH_ERROR, "cannot work so");
  if (Is(fault, "resource")) return host->fail(call, HEADRACE_RESOURCE_ERROR, "needs more");
  if (Is(fault, "unsupported")) return host->fail(call, HEADRACE_UNSUPPORTED_ERROR, "is not for this machine");
  if (Is(fault, "function")) return host->fail(call, HEADRACE_FUNCTION_ERROR, "gave up");
  if (Is(fault, "not text")) return host->fail(call, HEADRACE_DATA_ERROR, "cannot read \xff\xfe caf\xc3\xa9");
  if (Is(fault, "throws not text")) throw std::out_of_range("row \xff");
  if (Is(fault, "long text")) {
    return host->fail(call, HEADRACE_DATA_ERROR, (std::string(4095, 'x') + "\xc3\xa9 and more").c_str());
  }
  if (Is(fault, "fails and goes on")) {
    host->allocate(call, 0, HEADRACE_INT64, 1, shape, &memory);
    host->fail(call, HEADRACE_DATA_ERROR, "is odd");
    return HEADRACE_OK;
  }
  if (Is(fault, "no place for marks")) return host->fillers(call, nullptr, nullptr);
  if (Is(fault, "no output")) return HEADRACE_OK;
  if (Is(fault, "draws")) {
    uint32_t word = 0;
    return host->random_bits(call, &word, 1);
  }
  if (Is(fault, "other dtype")) return host->allocate(call, 0, HEADRACE_FLOAT64, 1, shape, &memory);
  if (Is(fault, "other shape")) {
    shape[0] = 4;
    // Goes on as if nothing were wrong.
    host->allocate(call, 0, HEADRACE_INT64, 1, shape, &memory);
    return HEADRACE_OK;
  }
  if (Is(fault, "negative")) shape[0] = -1;
  if (Is(fault, "open")) shape[0] = shape[1] = shape[2] = INT64_MAX / 2;
  if (Is(fault, "empty axis")) shape[0] = shape[1] = INT64_MAX / 2, shape[2] = 0;
  const int32_t axes = Is(fault, "axes") ? 33 : Is(fault, "open") || Is(fault, "empty axis") ? 3 : 1;
  const uint32_t output = Is(fault, "output 5") ? 5 : 0;
  const int32_t result = host->allocate(call, output, HEADRACE_INT64, axes, shape, &memory);
  if (result != HEADRACE_OK) return result;
  std::memset(memory, 0, 3 * sizeof(int64_t));
  if (Is(fault, "twice")) return host->allocate(call, 0, HEADRACE_INT64, 1, shape, &memory);
  return HEADRACE_OK;
}

const headrace_attribute fault = {.struct_size = sizeof(headrace_attribute),
                                  .type = HEADRACE_ATTRIBUTE_TEXT,
                                  .name = "fault",
                                  .doc = "What goes wrong."};
const headrace_attribute* const attributes[] = {&fault, nullptr};
const headrace_kernel kernel = {.struct_size = sizeof(headrace_kernel),
                                .version = 1,
                                .name = "Bad",
                                .summary = "Breaks a rule.",
                                .least_inputs = 1,
                                .most_inputs = 1,
                                .outputs = 1,
                                .attributes = attributes,
                                .infer = Infer,
                                .create = Create,
                                .apply = Apply};
// Random numbers and identities with wrong places; strings beyond their bytes.
int32_t InferText(headrace_call*, const headrace_value* const*, const headrace_type* const*, uint32_t,
                  headrace_type* const* outputs) {
  outputs[0]->dtype = HEADRACE_STRING;
  outputs[0]->axes = 0;
  return HEADRACE_OK;
}

int32_t ApplyDraws(headrace_call* call, const void* state, const headrace_tensor* const*, uint32_t) {
  const auto* const fault = static_cast<const char*>(state);
  if (Is(fault, "no place")) return host->random_uniform(call, nullptr, 3);
  if (Is(fault, "no identity")) return host->identity(call, nullptr);
  if (Is(fault, "short identity")) {
    uint64_t place[3] = {8, 7, 7};
    auto* const identity = reinterpret_cast<headrace_identity*>(place);
    const int32_t result = host->identity(call, identity);
    return place[1] == 7 && place[2] == 7 ? result : host->fail(call, HEADRACE_DATA_ERROR, "was written beyond");
  }
  const int64_t offsets[] = {0, 4};
  return host->give_strings(call, 0, HEADRACE_STRING, 0, nullptr, "abc", 3, offsets);
}

const headrace_kernel draws = {.struct_size = sizeof(headrace_kernel),
                               .version = 1,
                               .name = "Draws",
                               .summary = "Gives no places.",
                               .least_inputs = 1,
                               .most_inputs = 1,
                               .outputs = 1,
                               .traits = HEADRACE_RANDOM,
                               .attributes = attributes,
                               .infer = InferText,
                               .create = Create,
                               .apply = ApplyDraws};

// A batch of another number of rows than it was given.
int32_t ApplyRows(headrace_call* call, const void*, const headrace_tensor* const* inputs, uint32_t) {
  const int64_t rows = inputs[0]->shape[0] + 1;
  void* memory = nullptr;
  const int32_t result = host->allocate(call, 0, HEADRACE_INT64, 1, &rows, &memory);
  if (result == HEADRACE_OK) std::memset(memory, 0, static_cast<size_t>(rows) * sizeof(int64_t));
  return result;
}

int32_t InferRows(headrace_call*, const headrace_value* const*, const headrace_type* const*, uint32_t,
                  headrace_type* const* outputs) {
  outputs[0]->dtype = HEADRACE_INT64;
  return HEADRACE_OK;
}

const headrace_kernel rows = {.struct_size = sizeof(headrace_kernel),
                              .version = 1,
                              .name = "Rows",
                              .summary = "Adds a row to a batch.",
                              .least_inputs = 1,
                              .most_inputs = 1,
                              .outputs = 1,
                              .traits = HEADRACE_BY_BATCH,
                              .infer = InferRows,
                              .apply = ApplyRows};

const headrace_kernel* const kernels[] = {&kernel, &draws, &rows, nullptr};
const headrace_plugin plugin = {
    .struct_size = sizeof(headrace_plugin), .name = "badops", .version = "0.1", .kernels = kernels};

}  // namespace

const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;

int32_t headrace_plugin_query(uint32_t, const headrace_host* given, headrace_call*, const headrace_plugin** result) {
  host = given;
  *result = &plugin;
  return HEADRACE_OK;
}
