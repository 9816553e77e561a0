// `PluginText` is text returned by a plugin, not yet validated as UTF-8.
// Threads: pure functions.
#ifndef HEADRACE_OPS_PLUGIN_PLUGIN_TEXT_H_
#define HEADRACE_OPS_PLUGIN_PLUGIN_TEXT_H_

#include <string>

namespace headrace {

// At most 4,096 bytes of it, cut between characters; U+FFFD stands for each byte that is part of none. Not null.
std::string PluginText(const char* text);

}  // namespace headrace

#endif  // HEADRACE_OPS_PLUGIN_PLUGIN_TEXT_H_
