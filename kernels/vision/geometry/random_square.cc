#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

constexpr ir::Number kRandomSquareZeros[] = {int64_t{0}};
constexpr absl::Span<const ir::Number> kZero(kRandomSquareZeros);

absl::Status SquareTooLarge(int64_t most, int64_t height, int64_t width) {
  return GraphError("the square may be ", most, " wide, and the image is (", height, ", ", width,
                    "); resize first, or give a smaller `most`");
}

class RandomSquare : public GeometricKernel {
 public:
  explicit RandomSquare(const ir::Attributes& attributes)
      : least_(attributes.Int("least")), most_(attributes.Int("most")), centered_(attributes.Bool("centered")) {}

  PixelTypes accepted() const override { return PixelTypes::kFixedSize; }
  absl::Status Plan(RowRandom& random, MovePlan& plan) const override {
    if (plan.height() < most_ || plan.width() < most_) return SquareTooLarge(most_, plan.height(), plan.width());
    const int64_t side = least_ + Below(random, most_ - least_ + 1);
    // Draws the place in any case, so that the rest of the stream does not depend on `centered`.
    const int64_t top = Below(random, plan.height() - side + 1);
    const int64_t left = Below(random, plan.width() - side + 1);
    const Window middle = {(plan.height() - side) / 2, (plan.width() - side) / 2, side, side};
    plan.Cut(centered_ ? middle : Window{top, left, side, side}, Border::kConstant, kZero);
    return absl::OkStatus();
  }

 private:
  static int64_t Below(RowRandom& random, int64_t end) {
    return static_cast<int64_t>(random.Below(static_cast<uint64_t>(end)));
  }

  int64_t least_;
  int64_t most_;
  bool centered_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomSquare(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  const int64_t least = attributes.Int("least");
  const int64_t most = attributes.Int("most");
  if (least > most) return GraphError("least is ", least, ", above most, which is ", most, "; exchange them");
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  const auto known = [&](size_t axis) {
    const bool open = !type.shape || (*type.shape)[axis] == ir::kUnknownDim;
    return open ? most : (*type.shape)[axis];
  };
  if (known(0) < most || known(1) < most) return SquareTooLarge(most, known(0), known(1));
  const int64_t side = least == most ? most : ir::kUnknownDim;
  return std::vector{WithSize(type, side, side)};
}

const MovingRegistration random_square_registration{
    {.name = "RandomSquare",
     .summary = "Cuts a square of random size out of an image.",
     .doc = "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type. The side is drawn from "
            "least, …, most, all equally likely, and so is the place, or the square lies in the middle, where it "
            "begins at the half rounded down: MXNet's min_crop_size and max_crop_size. A Resize makes squares of one "
            "size of them.\n"
            "Errors: an image that is narrower or lower than `most`, another rank, bytes or strings.",
     .attributes = {{.name = "least", .doc = "The least side, in pixels.", .minimum = 1, .maximum = 65535},
                    {.name = "most", .doc = "The greatest side, in pixels.", .minimum = 1, .maximum = 65535},
                    {.name = "centered",
                     .type = ir::AttributeType::kBool,
                     .doc = "Whether the square lies in the middle, else at a random place.",
                     .default_value = "False"}},
     .traits = {.random = true, .geometric = true},
     .python_module = "vision",
     .example = "V.RandomSquare(160, 224)",
     .sample = {.attributes = {{"least", "3"}, {"most", "9"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomSquare},
    Makes<RandomSquare>()};

}  // namespace
}  // namespace headrace
