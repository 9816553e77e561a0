#include "core/output_place.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

thread_local OutputPlace* current_place = nullptr;

}  // namespace

OutputPlace::OutputPlace(Tensor place) : place_(std::move(place)), outer_(current_place) {
  // Keeps what is allocated without a place as quick as it was.
  current_place = place_.valid() ? this : nullptr;
}

OutputPlace::~OutputPlace() { current_place = outer_; }

bool OutputPlace::Take(DType dtype, absl::Span<const int64_t> shape, Tensor& tensor) {
  if (current_place == nullptr) return false;
  Tensor& place = current_place->place_;
  const bool same =
      place.dtype() == dtype && std::equal(shape.begin(), shape.end(), place.shape().begin(), place.shape().end());
  if (!same) return false;
  tensor = std::move(place);
  // Serves once.
  current_place = nullptr;
  return true;
}

}  // namespace headrace
