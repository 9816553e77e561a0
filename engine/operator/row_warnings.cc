#include "engine/operator/row_warnings.h"

#include <algorithm>
#include <utility>

#include "core/printable.h"
#include "core/text.h"

namespace headrace {

void RowWarnings::Add(const RowId& id, const Provenance& provenance, std::string_view text) {
  std::string named = Printable(DescribeProvenance(provenance));
  if (named.empty()) named = DescribeRowId(id);
  Append(named, ": ", text);
  const std::lock_guard<std::mutex> lock(mutex_);
  ++rows_;
  if (first_.size() == kNamed || std::find(first_.begin(), first_.end(), named) != first_.end()) return;
  first_.push_back(std::move(named));
}

WarningReport RowWarnings::report() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {name_, rows_, counted_, first_};
}

}  // namespace headrace
