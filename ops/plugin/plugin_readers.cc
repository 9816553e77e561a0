// Has `LoadPlugin` (kernels/plugin/plugin_library.h) register the sources and formats of plugins, in each program that
// links this.
#include "kernels/plugin/plugin_library.h"
#include "ops/plugin/plugin_format.h"
#include "ops/plugin/plugin_source.h"

namespace headrace {
namespace {

[[maybe_unused]] const bool readers_are_set = [] {
  SetPluginReaders({.declare_source = DeclareSource,
                    .declare_format = DeclareFormat,
                    .register_source = RegisterSource,
                    .register_format = RegisterFormat});
  return true;
}();

}  // namespace
}  // namespace headrace
