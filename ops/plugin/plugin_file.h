// `headrace_file` is the file of a plugin's format, as the interface names it.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_FILE_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_FILE_H_

#include "headrace_plugin.h"
#include "io/formats/read_ahead_file.h"

// The name that the interface gives to it.
struct headrace_file {
  headrace::ReadAheadFile* bytes;
};

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_FILE_H_
