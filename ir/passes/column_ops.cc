#include "ir/passes/column_ops.h"

#include <utility>

#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace::ir {

void SetAttribute(proto::Node& node, std::string_view name, proto::Value value) {
  for (proto::Attribute& attribute : *node.mutable_attributes()) {
    if (attribute.name() == name) *attribute.mutable_value() = std::move(value);
  }
}

std::vector<std::string> ProjectedColumns(const proto::Node& project) {
  return Attributes::Of(project).Strings(kProjectColumns);
}

void SetProjectedColumns(proto::Node& project, const std::vector<std::string>& columns) {
  SetAttribute(project, kProjectColumns, StringsValue(columns));
}

NewNames RenamedColumns(const proto::Node& rename) {
  NewNames names;
  for (auto& [from, to] : Attributes::Of(rename).Pairs(kRenameMapping)) names[from] = to;
  return names;
}

void SetRenamedColumns(proto::Node& rename, const NewNames& names) {
  const std::vector<std::pair<std::string, std::string>> pairs(names.begin(), names.end());
  SetAttribute(rename, kRenameMapping, PairsValue(pairs));
}

const std::string& NewName(const NewNames& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

}  // namespace headrace::ir
