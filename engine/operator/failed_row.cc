#include "engine/operator/failed_row.h"

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr std::string_view kNothingLeft = "headrace/nothing_left";

}  // namespace

bool IsOfOneRow(const absl::Status& error) {
  if (IsBeyondRow(error)) return false;
  const ErrorKind kind = KindOf(error);
  return kind == ErrorKind::kData || kind == ErrorKind::kNotFound || kind == ErrorKind::kFunction;
}

absl::Status DecidedByRow(const absl::Status& error) {
  if (error.ok() || KindOf(error) != ErrorKind::kGraph) return error;
  absl::Status of_row = MakeError(ErrorKind::kData, ToStd(error.message()));
  error.ForEachPayload([&of_row](absl::string_view url, const absl::Cord& value) { of_row.SetPayload(url, value); });
  return of_row;
}

absl::Status NothingLeftError(std::string_view of, const absl::Status& last) {
  absl::Status error = Reworded(
      last, Cat("every row of ", of, " failed, so that nothing is left of it; the last one: ", ToStd(last.message())));
  error.SetPayload(ToAbsl(kNothingLeft), absl::Cord());
  return error;
}

bool IsNothingLeft(const absl::Status& error) { return error.GetPayload(ToAbsl(kNothingLeft)).has_value(); }

}  // namespace headrace
