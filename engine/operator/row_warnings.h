// `RowWarnings` counts the rows of an operator that have a warning (core/row_warning.h), and keeps the first few by
// name.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_OPERATOR_ROW_WARNINGS_H_
#define HEADRACE_ENGINE_OPERATOR_ROW_WARNINGS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/row_id.h"

namespace headrace {

struct WarningReport {
  std::string name;  // "map[1]"
  uint64_t rows = 0;
  std::string_view counted = "row";  // what `rows` counts
  std::vector<std::string> first;    // "photos/cat/1.jpg: …", at most RowWarnings::kNamed, no file twice
};

class RowWarnings {
 public:
  static constexpr size_t kNamed = 5;

  // `counted`: what has the warnings; a literal.
  explicit RowWarnings(std::string name, std::string_view counted = "row")
      : name_(std::move(name)), counted_(counted) {}

  // The row is named by its file, if it has one.
  void Add(const RowId& id, const Provenance& provenance, std::string_view text);
  WarningReport report() const;

 private:
  const std::string name_;
  const std::string_view counted_;
  mutable std::mutex mutex_;
  uint64_t rows_ = 0;
  std::vector<std::string> first_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_ROW_WARNINGS_H_
