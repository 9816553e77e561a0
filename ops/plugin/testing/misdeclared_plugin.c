/* A plugin for tests that is wrong when it is loaded, as macros of the build say; without them it is right. */
#include "headrace_plugin.h"

#ifndef NAME
#define NAME "misops"
#endif
#ifndef VERSION
#define VERSION "0.1"
#endif
#ifndef ABI
#define ABI HEADRACE_PLUGIN_ABI
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(headrace_plugin)
#endif
#ifndef KERNEL_SIZE
#define KERNEL_SIZE sizeof(headrace_kernel)
#endif
#ifndef ATTRIBUTE_SIZE
#define ATTRIBUTE_SIZE sizeof(headrace_attribute)
#endif
#ifndef KERNEL
#define KERNEL "Pass"
#endif
#ifndef KERNEL_VERSION
#define KERNEL_VERSION 1
#endif
#ifndef SUMMARY
#define SUMMARY "Passes a column on."
#endif
#ifndef INPUTS
#define INPUTS 1
#endif
#ifndef OUTPUTS
#define OUTPUTS 1
#endif
#ifndef TRAITS
#define TRAITS 0
#endif
#ifndef ATTRIBUTE
#define ATTRIBUTE "mode"
#endif
#ifndef TYPE
#define TYPE HEADRACE_ATTRIBUTE_TEXT
#endif
#ifndef DOC
#define DOC "How."
#endif
#ifndef DEFAULT
#define DEFAULT "'fast'"
#endif
#ifndef APPLY
#define APPLY Apply
#endif
#ifndef SECOND
#define SECOND NULL
#endif

static const headrace_host* host;

static int32_t Infer(headrace_call* call, const headrace_value* const* values, const headrace_type* const* inputs,
                     uint32_t input_count, headrace_type* const* outputs) {
  (void)call, (void)values, (void)input_count;
  *outputs[0] = *inputs[0];
  return HEADRACE_OK;
}

static int32_t Apply(headrace_call* call, const void* state, const headrace_tensor* const* inputs,
                     uint32_t input_count) {
  (void)state, (void)inputs, (void)input_count;
  return host->give_input(call, 0, 0);
}

static const headrace_attribute attribute = {
    .struct_size = ATTRIBUTE_SIZE, .type = TYPE, .name = ATTRIBUTE, .doc = DOC, .default_value = DEFAULT};
static const headrace_attribute* const attributes[] = {&attribute, NULL};
static const headrace_kernel kernel = {
    .struct_size = KERNEL_SIZE,
    .version = KERNEL_VERSION,
    .name = KERNEL,
    .summary = SUMMARY,
    .least_inputs = INPUTS,
    .most_inputs = 1,
    .outputs = OUTPUTS,
    .traits = TRAITS,
    .attributes = attributes,
    .infer = Infer,
    .apply = APPLY,
};
static const headrace_kernel* const kernels[] = {&kernel, SECOND, NULL};
static const headrace_plugin plugin = {
    .struct_size = PLUGIN_SIZE, .abi = ABI, .name = NAME, .version = VERSION, .kernels = kernels};

#ifndef NO_QUERY
const headrace_plugin* headrace_plugin_query(const headrace_host* given) {
  (void)plugin;
  host = given;
#ifdef REFUSES
  return NULL;
#else
  return &plugin;
#endif
}
#endif
