// These functions make and read the operators that only choose and name columns. Use them in passes.
// Threads: pure functions.
#ifndef HEADRACE_IR_PASSES_COLUMN_OPS_H_
#define HEADRACE_IR_PASSES_COLUMN_OPS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/messages.h"

namespace headrace::ir {

inline constexpr std::string_view kProjectOp = "project";
inline constexpr std::string_view kProjectColumns = "columns";
inline constexpr std::string_view kRenameOp = "rename";
inline constexpr std::string_view kRenameMapping = "mapping";

// The node has the attribute.
void SetAttribute(proto::Node& node, std::string_view name, proto::Value value);

// From each old name to the new.
using NewNames = std::map<std::string, std::string>;

std::vector<std::string> ProjectedColumns(const proto::Node& project);
void SetProjectedColumns(proto::Node& project, const std::vector<std::string>& columns);
NewNames RenamedColumns(const proto::Node& rename);
void SetRenamedColumns(proto::Node& rename, const NewNames& names);
// The new name, or the name itself if `names` does not have it.
const std::string& NewName(const NewNames& names, const std::string& name);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_PASSES_COLUMN_OPS_H_
