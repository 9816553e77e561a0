// `MindFieldText` and `ParseMindField` write a field of a MindRecord schema as a text and read it again: the hidden
// attribute `fields` of hr.MindRecord holds the schema in this form, so that a graph knows its types without the files.
// Threads: pure functions.
#ifndef HEADRACE_OPS_SOURCE_MINDRECORD_MIND_FIELDS_H_
#define HEADRACE_OPS_SOURCE_MINDRECORD_MIND_FIELDS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "io/formats/mindrecord/mind_header.h"
#include "ir/type.h"

namespace headrace {

// "label int32", "image bytes", "ids int64 (None, 3)".
std::string MindFieldText(const MindField& field);
// kGraph: it is no such text.
absl::StatusOr<MindField> ParseMindField(std::string_view text);

ir::ColumnType TypeOfMindField(const MindField& field);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_MINDRECORD_MIND_FIELDS_H_
