#include "io/files/plainly_missing.h"

#include "absl/strings/cord.h"
#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kPlainlyMissing = "headrace/plainly_missing";

}  // namespace

absl::Status PlainlyMissing(absl::Status status) {
  if (KindOf(status) == ErrorKind::kNotFound) status.SetPayload(ToAbsl(kPlainlyMissing), absl::Cord());
  return status;
}

absl::Status MissingError(std::string_view path) { return PlainlyMissing(NotFoundError(path, ": not found")); }

bool IsPlainlyMissing(const absl::Status& status) { return status.GetPayload(ToAbsl(kPlainlyMissing)).has_value(); }

}  // namespace headrace
