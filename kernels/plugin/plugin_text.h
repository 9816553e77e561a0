// `PluginText` is text returned by a plugin, which may be any bytes.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_TEXT_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_TEXT_H_

#include <string>

namespace headrace {

// At most 4,096 bytes of it, cut between characters, and made printable. Not null.
std::string PluginText(const char* text);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_TEXT_H_
