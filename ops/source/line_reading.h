// What the sources of lines share: their attributes, how they read, and their parameters in Python. They differ in the
// columns that they make of a line.
// Thread contract: pure functions; the sources have the contract of StreamSource.
#ifndef HEADRACE_OPS_SOURCE_LINE_READING_H_
#define HEADRACE_OPS_SOURCE_LINE_READING_H_

#include <memory>
#include <string_view>
#include <vector>

#include "engine/operator/operator.h"
#include "ops/source/split_signature.h"
#include "ops/source/split_source.h"

namespace headrace {

using MakeLineColumns = std::unique_ptr<RecordColumns> (*)(const OpArguments& arguments);

// `patterns`, the source's own attributes, and those of its splits.
std::vector<ir::Attribute> DeclareLineReading(std::vector<ir::Attribute> own = {});
// Of a source whose lines are all rows.
OpFactories LineFactories(MakeLineColumns make);
// `own`: the parameters behind `patterns`; `last`: those behind `split_bytes`.
ir::PythonSignature LineSignature(std::string_view op, const std::vector<SourceParameter>& own = {},
                                  std::vector<SourceParameter> last = {});

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINE_READING_H_
