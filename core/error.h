// Errors are values: `MakeError` makes an absl::Status that carries a kind (each with its Python exception type) and
// fields that tell a user where it happened. User errors and internal errors are different kinds. A message is one line
// of text, whatever bytes it names: all of them go through Printable (core/printable.h).
// Threads: any; a status is immutable once passed on.
#ifndef HEADRACE_CORE_ERROR_H_
#define HEADRACE_CORE_ERROR_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/text.h"

namespace headrace {

enum class ErrorKind {
  kGraph,        // the pipeline as written cannot run: wrong attribute, column, dtype or shape
  kData,         // a row's bytes are not what they should be
  kNotFound,     // a file or folder is missing
  kFunction,     // the user's Python function raised
  kState,        // a state cannot be taken or restored
  kResource,     // the memory budget or a limit of the machine
  kUnsupported,  // not possible here, or not with these options
  kClosed,       // used after close()
  kInternal,     // a bug in Headrace
};

std::string_view ErrorKindName(ErrorKind kind);

// Code that only leads to an error is compiled for size, and apart from the rest.
[[gnu::cold]] absl::Status MakeError(ErrorKind kind, std::string_view message);
// For a message that is a list.
[[gnu::cold]] absl::Status MakeErrorOfLines(ErrorKind kind, const std::vector<std::string>& lines);
// The error in other words, with its fields.
[[gnu::cold]] absl::Status Reworded(const absl::Status& error, std::string_view message);

// As MakeError of parts, passed as Cat passes them.
[[gnu::cold]] absl::Status MakeErrorOfParts(ErrorKind kind, const char* letters, ...);

template <typename... Parts>
[[gnu::always_inline]] inline absl::Status ErrorOf(ErrorKind kind, const Parts&... parts) {
  using namespace text_internal;
  if constexpr (kPassed<Parts...>) {
    return MakeErrorOfParts(kind, kLetters<LetterOf<Parts>()...>, Passed(parts)...);
  } else {
    return MakeError(kind, Cat(parts...));
  }
}

template <typename... Parts>
[[gnu::always_inline]] inline absl::Status GraphError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kGraph, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status DataError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kData, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status NotFoundError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kNotFound, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status StateError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kState, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status ResourceError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kResource, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status UnsupportedError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kUnsupported, parts...);
}
template <typename... Parts>
[[gnu::always_inline]] inline absl::Status InternalError(const Parts&... parts) {
  return ErrorOf(ErrorKind::kInternal, parts...);
}

// A status made elsewhere (absl's own) maps to the nearest kind; unknown codes are internal.
ErrorKind KindOf(const absl::Status& status);

// Where an error happened. Every field is optional: "" if not known.
enum class ErrorField {
  kOperator,  // "map[1] Resize"
  kLocation,  // the user's line: "train.py:12"
  kRow,       // "epoch 0, row 17"
  kFile,      // the path, with record or byte offset if there is one
  kSkipped,   // the first rows that failed before it and were left out
  kFunction,  // handle of the Python exception kept by the pipeline
};

// Sets the field unless it is set already: the innermost caller has the best information. Its bytes stay as they are.
void AddErrorField(absl::Status& status, ErrorField field, std::string_view value);
std::string GetErrorField(const absl::Status& status, ErrorField field);

// Marks an error that a row met but that is not the row's own: a fault of the disk that may pass, Ctrl-C. No policy
// leaves out a row for it.
absl::Status BeyondRow(absl::Status status);
bool IsBeyondRow(const absl::Status& status);

// The message and every known field, a line each.
std::vector<std::string> ErrorLines(const absl::Status& status);
// These lines as one text.
std::string DescribeError(const absl::Status& status);

}  // namespace headrace

#define HEADRACE_RETURN_IF_ERROR(expression)           \
  do {                                                 \
    absl::Status headrace_status = (expression);       \
    if (!headrace_status.ok()) return headrace_status; \
  } while (false)

#define HEADRACE_CONCAT_INNER(a, b) a##b
#define HEADRACE_CONCAT(a, b) HEADRACE_CONCAT_INNER(a, b)
#define HEADRACE_ASSIGN_OR_RETURN(target, expression) \
  HEADRACE_ASSIGN_OR_RETURN_INNER(HEADRACE_CONCAT(headrace_result_, __LINE__), target, expression)
#define HEADRACE_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                       \
  if (!result.ok()) return std::move(result).status();              \
  target = *std::move(result)

#endif  // HEADRACE_CORE_ERROR_H_
