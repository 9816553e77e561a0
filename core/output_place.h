// Where a tensor that is about to be made should lie, where somebody has a place for it: a row's place in its batch.
// The first tensor of just that dtype and shape which the thread allocates while the OutputPlace stands lies there. So
// a kernel knows nothing of batches; if what it puts there is not its result, that is copied later, and nothing else.
// Thread contract: made, used and destroyed by one thread.
#ifndef HEADRACE_CORE_OUTPUT_PLACE_H_
#define HEADRACE_CORE_OUTPUT_PLACE_H_

#include "absl/types/span.h"
#include "core/tensor.h"

namespace headrace {

class OutputPlace {
 public:
  // An invalid tensor: no place.
  explicit OutputPlace(Tensor place);
  ~OutputPlace();
  OutputPlace(const OutputPlace&) = delete;

  // For Tensor::Allocate: whether there was a place, which `tensor` becomes.
  static bool Take(DType dtype, absl::Span<const int64_t> shape, Tensor& tensor);

 private:
  Tensor place_;
  OutputPlace* const outer_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_OUTPUT_PLACE_H_
