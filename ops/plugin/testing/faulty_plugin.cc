// A plugin for tests that breaks the rules of the interface when rows run, as the attribute `fault` says.
#include <cstring>
#include <new>
#include <stdexcept>

#include "headrace_plugin.h"

namespace {

const headrace_host* host;

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
  if (Is(fault, "open")) outputs[0]->axes = -1;
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
  const int32_t axes = Is(fault, "axes") ? 33 : Is(fault, "open") ? 3 : 1;
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
const headrace_kernel* const kernels[] = {&kernel, nullptr};
const headrace_plugin plugin = {.struct_size = sizeof(headrace_plugin),
                                .abi = HEADRACE_PLUGIN_ABI,
                                .name = "badops",
                                .version = "0.1",
                                .kernels = kernels};

}  // namespace

const headrace_plugin* headrace_plugin_query(const headrace_host* given) {
  host = given;
  return &plugin;
}
