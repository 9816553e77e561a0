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
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef BOUND
#define BOUND .minimum = 0
#endif
#ifndef RESERVED
#define RESERVED 0
#endif
#ifndef KERNEL_RESERVED
#define KERNEL_RESERVED 0
#endif
#ifndef CHOICES
#define CHOICES NULL
#endif
#ifndef LATER
#define LATER 0
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

static const char* const choices[] = {"fast", "it's \"slow\"", NULL};
static const headrace_attribute attribute = {.struct_size = ATTRIBUTE_SIZE,
                                             .type = TYPE,
                                             .name = ATTRIBUTE,
                                             .doc = DOC,
                                             .default_value = DEFAULT,
                                             .flags = FLAGS,
                                             .choices = CHOICES,
                                             BOUND};
static const headrace_attribute* const attributes[] = {&attribute, NULL};
static const headrace_kernel kernel = {
    .struct_size = KERNEL_SIZE,
    .version = KERNEL_VERSION,
    .name = KERNEL,
    .summary = SUMMARY,
    .least_inputs = INPUTS,
    .most_inputs = 1,
    .outputs = OUTPUTS,
    .reserved = KERNEL_RESERVED,
    .traits = TRAITS,
    .attributes = attributes,
    .infer = Infer,
    .apply = APPLY,
};
static const headrace_kernel* const kernels[] = {&kernel, SECOND, NULL};
/* As if a later version had appended two fields. */
static const struct {
  headrace_plugin plugin;
  uint64_t later[2];
} longer = {
    .plugin = {.struct_size = PLUGIN_SIZE, .reserved = RESERVED, .name = NAME, .version = VERSION, .kernels = kernels},
    .later = {0, LATER}};

#ifndef NO_ABI
const uint32_t headrace_plugin_abi = ABI;
#endif

#ifndef NO_QUERY
int32_t headrace_plugin_query(uint32_t host_abi, const headrace_host* given, headrace_call* call,
                              const headrace_plugin** result) {
  (void)longer, (void)choices, (void)call;
  host = given;
  if (host_abi != given->abi) return 99;
#ifdef REFUSES
  return host->fail(call, HEADRACE_UNSUPPORTED_ERROR, "needs a mill");
#elif defined(GIVES_NONE)
  return HEADRACE_OK;
#elif defined(RETURNS)
  return RETURNS;
#else
  *result = &longer.plugin;
  return HEADRACE_OK;
#endif
}
#endif
