// `LineFactories` and `DeclareLineReading` make what the sources of lines share: their attributes, how they read, with
// an index or without, and their parameters in Python. They differ in the columns that they make of a line, and in
// which lines are rows.
// Threads: pure functions; the sources have the contracts of their kinds.
#ifndef HEADRACE_OPS_SOURCE_LINES_LINE_READING_H_
#define HEADRACE_OPS_SOURCE_LINES_LINE_READING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/record_reader.h"
#include "ops/source/column_source.h"
#include "ops/source/file_patterns.h"
#include "ops/source/split_signature.h"
#include "ops/source/split_source.h"

namespace headrace {

// How the lines of files become rows.
struct LineRows {
  std::unique_ptr<const Format> format;
  MakeColumns columns;    // also leave out the lines that are no rows
  std::string rule = {};  // differs where the operator has other lines, or leaves out others
  // Line ends within these quotes are part of a line, as the format has it: each file is one split.
  std::optional<char> quote = std::nullopt;
  // A file may be an array of JSON, whose elements are the lines.
  bool json = false;
};
using MakeLineRows = std::function<absl::StatusOr<LineRows>(const OpArguments& arguments, const MatchedFiles& files)>;

// `patterns`, the source's own attributes, `index`, and those of its splits.
std::vector<ir::Attribute> DeclareLineReading(std::vector<ir::Attribute> own = {});
// kGraph: no patterns, or attributes that do not go together.
absl::Status CheckLineReading(const ir::Attributes& attributes);
OpFactories LineFactories(MakeLineRows make);
// Of files whose lines all have one form.
OpFactories LineFactories(MakeColumns (*make)(const OpArguments& arguments));

// `classes`, of the sources whose columns have names.
SourceParameter ClassesParameter();
// `own`: the parameters after `patterns`; `last`: those after `split_bytes`; `after_index`: those after `index`.
ir::PythonSignature LineSignature(const std::vector<SourceParameter>& own = {}, std::vector<SourceParameter> last = {},
                                  const std::vector<SourceParameter>& after_index = {});

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_LINE_READING_H_
