// `SplitSignature` gives the Python class of a source that is read in splits (split_source.h): its parameters, among
// them the window of the shuffle above it.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_SPLIT_SIGNATURE_H_
#define HEADRACE_OPS_SOURCE_SPLIT_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/declaration.h"

namespace headrace {

struct SourceParameter {
  std::string name;
  std::string text;      // "label_width: int = 1"
  std::string doc = {};  // empty: the attribute's
};

struct SplitParameters {
  std::vector<SourceParameter> first;  // up to `window`
  std::string_view window;             // its default
  std::string_view window_doc;
  std::vector<SourceParameter> last = {};  // after those of splits
  bool whole_files = false;                // the source has no `split_bytes`
};

// `shuffle`, which may be of files alone.
SourceParameter ShuffleParameter();

ir::PythonSignature SplitSignature(const SplitParameters& parameters);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_SPLIT_SIGNATURE_H_
