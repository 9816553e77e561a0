#include "ir/front_module.h"

#include <algorithm>
#include <iterator>

namespace headrace::ir {
namespace {

constexpr FrontModule kFrontModules[] = {
    {.name = "", .prefix = "hr.", .title = "Sources"},
    {.name = "samplers", .prefix = "hr.", .title = "Samplers"},
    {.name = "functions", .prefix = "hr.", .title = "Functions"},
    {.name = "dataset", .prefix = "ds.", .title = "Dataset methods"},
    {.name = "vision",
     .prefix = "V.",
     .title = "headrace.vision",
     .doc = "Kernels for images. Heights come before widths; channels come last until HWC2CHW.",
     .sample = SampleInput::kImage,
     .images = true},
    {.name = "transforms",
     .prefix = "T.",
     .title = "headrace.transforms",
     .doc = "Kernels for any tensor.",
     .sample = SampleInput::kVector},
};

}  // namespace

absl::Span<const FrontModule> FrontModules() { return kFrontModules; }

const FrontModule* FindFrontModule(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFrontModules), std::end(kFrontModules),
                                         [name](const FrontModule& module) { return module.name == name; });
  return found == std::end(kFrontModules) ? nullptr : found;
}

bool IsOfImages(std::string_view module) {
  const FrontModule* const found = FindFrontModule(module);
  return found != nullptr && found->images;
}

}  // namespace headrace::ir
