// `PluginValues` holds the attributes of one operator as a plugin reads them: values in the order of their declaration.
// Threads: immutable once made; any thread.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_VALUES_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_VALUES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "headrace_plugin.h"
#include "ir/attributes.h"

namespace headrace {

class PluginValues {
 public:
  // Every attribute is among `given`, checked and with defaults filled in.
  PluginValues(absl::Span<const headrace_attribute> declared, const ir::Attributes& given);
  PluginValues(const PluginValues&) = delete;

  // Valid as long as this.
  const headrace_value* const* values() const { return pointers_.data(); }

 private:
  headrace_value ValueOf(const headrace_attribute& declared, const ir::Attributes& given);
  const char* Keep(std::string text);

  // Deques, because elements stay where they are.
  std::deque<headrace_value> values_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<const char*>> lists_;
  std::vector<const headrace_value*> pointers_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_VALUES_H_
