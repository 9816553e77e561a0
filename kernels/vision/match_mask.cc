#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/picture_size.h"

namespace headrace {
namespace {

// Passes the mask on.
class MatchMask : public Kernel {
 public:
  explicit MatchMask(const ir::Attributes& attributes) : options_(PictureSizeOptions(attributes)) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    if (inputs.size() != 2) return GraphError("needs a picture and its mask; got ", inputs.size(), " columns");
    HEADRACE_ASSIGN_OR_RETURN(const PictureSize picture, SizeOfPicture(inputs[0], options_));
    HEADRACE_ASSIGN_OR_RETURN(const PictureSize mask, SizeOfPicture(inputs[1], options_));
    if (picture == mask) return Tensors{inputs[1]};
    return DataError("the mask has height ", mask.height, " and width ", mask.width, ", but its picture has height ",
                     picture.height, " and width ", picture.width, "; resize one of them in a map before this one");
  }

 private:
  DecodeOptions options_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  for (const ir::ColumnType& type : inputs) HEADRACE_RETURN_IF_ERROR(CheckPictureType(type));
  return std::vector{inputs[1]};
}

const KernelRegistration registration{
    {.name = "MatchMask",
     .summary = "Checks that a mask has the size of its picture.",
     .doc = "Takes a picture and its mask, each encoded or not, and gives the mask.\n"
            "Errors: of the row, another height or width than the picture's; of the graph, no pictures.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = PictureSizeAttributes(),
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.mask(\"mask\")])",
     .infer_kernel = Infer},
    Makes<MatchMask>()};

}  // namespace
}  // namespace headrace
