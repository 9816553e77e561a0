#include "core/error.h"

#include <array>

#include "absl/strings/cord.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/printable.h"

namespace headrace {
namespace {

struct KindEntry {
  ErrorKind kind;
  std::string_view name;
  absl::StatusCode code;
};

constexpr std::array<KindEntry, 9> kKinds = {{
    {ErrorKind::kGraph, "GraphError", absl::StatusCode::kInvalidArgument},
    {ErrorKind::kData, "DataError", absl::StatusCode::kDataLoss},
    {ErrorKind::kNotFound, "NotFoundError", absl::StatusCode::kNotFound},
    {ErrorKind::kFunction, "FunctionError", absl::StatusCode::kAborted},
    {ErrorKind::kState, "StateError", absl::StatusCode::kFailedPrecondition},
    {ErrorKind::kResource, "ResourceError", absl::StatusCode::kResourceExhausted},
    {ErrorKind::kUnsupported, "UnsupportedError", absl::StatusCode::kUnimplemented},
    {ErrorKind::kClosed, "ClosedError", absl::StatusCode::kCancelled},
    {ErrorKind::kInternal, "InternalError", absl::StatusCode::kInternal},
}};

struct FieldEntry {
  ErrorField field;
  std::string_view url;
  std::string_view label;
};

constexpr std::array<FieldEntry, 6> kFields = {{
    {ErrorField::kOperator, "headrace/operator", "in"},
    {ErrorField::kLocation, "headrace/location", "written at"},
    {ErrorField::kRow, "headrace/row", "row"},
    {ErrorField::kFile, "headrace/file", "file"},
    {ErrorField::kSkipped, "headrace/skipped", "left out before"},
    {ErrorField::kFunction, "headrace/function", ""},
}};

constexpr std::string_view kBeyondRow = "headrace/beyond_row";

const FieldEntry& EntryError(ErrorField field) { return kFields[static_cast<size_t>(field)]; }

}  // namespace

std::string_view ErrorKindName(ErrorKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

absl::Status MakeError(ErrorKind kind, std::string_view message) {
  const KindEntry& entry = kKinds[static_cast<size_t>(kind)];
  return absl::Status(entry.code, Printable(message));
}

absl::Status MakeErrorOfParts(ErrorKind kind, const char* letters, ...) {
  va_list parts;
  va_start(parts, letters);
  const std::string message = text_internal::JoinedList(letters, parts);
  va_end(parts);
  return MakeError(kind, message);
}

absl::Status MakeErrorOfLines(ErrorKind kind, const std::vector<std::string>& lines) {
  const auto add = [](std::string* text, const std::string& line) { *text += Printable(line); };
  return absl::Status(kKinds[static_cast<size_t>(kind)].code, absl::StrJoin(lines, "\n", add));
}

absl::Status Reworded(const absl::Status& error, std::string_view message) {
  absl::Status reworded(error.code(), Printable(message));
  error.ForEachPayload([&reworded](absl::string_view url, const absl::Cord& value) {
    // A copy that is shared with no other thread.
    reworded.SetPayload(url, absl::Cord(absl::string_view(std::string(value))));
  });
  return reworded;
}

ErrorKind KindOf(const absl::Status& status) {
  for (const KindEntry& entry : kKinds) {
    if (entry.code == status.code()) return entry.kind;
  }
  if (status.code() == absl::StatusCode::kOutOfRange) return ErrorKind::kGraph;
  if (status.code() == absl::StatusCode::kPermissionDenied) return ErrorKind::kNotFound;
  return ErrorKind::kInternal;
}

void AddErrorField(absl::Status& status, ErrorField field, std::string_view value) {
  if (status.ok() || value.empty()) return;
  const absl::string_view url = ToAbsl(EntryError(field).url);
  if (status.GetPayload(url).has_value()) return;
  status.SetPayload(url, absl::Cord(ToAbsl(value)));
}

std::string GetErrorField(const absl::Status& status, ErrorField field) {
  const auto payload = status.GetPayload(ToAbsl(EntryError(field).url));
  return payload.has_value() ? std::string(*payload) : std::string();
}

absl::Status BeyondRow(absl::Status status) {
  if (!status.ok()) status.SetPayload(ToAbsl(kBeyondRow), absl::Cord());
  return status;
}

bool IsBeyondRow(const absl::Status& status) { return status.GetPayload(ToAbsl(kBeyondRow)).has_value(); }

std::vector<std::string> ErrorLines(const absl::Status& status) {
  std::vector<std::string> lines = absl::StrSplit(status.message(), '\n');
  for (const FieldEntry& entry : kFields) {
    const std::string value = GetErrorField(status, entry.field);
    if (!value.empty() && !entry.label.empty()) lines.push_back(Cat("  ", entry.label, ": ", Printable(value)));
  }
  return lines;
}

std::string DescribeError(const absl::Status& status) { return absl::StrJoin(ErrorLines(status), "\n"); }

}  // namespace headrace
