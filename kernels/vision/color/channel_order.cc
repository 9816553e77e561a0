#include "kernels/vision/color/channel_order.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "kernels/vision/color/color_kernel.h"

namespace headrace {
namespace {

template <typename T>
void Order(const PixelRow& row, const PixelFacts& facts, uint8_t* target) {
  const T* const values = reinterpret_cast<const T*>(row.values);
  T* const ordered = reinterpret_cast<T*>(target);
  if (row.channels != 3) {
    std::copy_n(values, row.count(), ordered);
    return;
  }
  const int from[] = {static_cast<int>(facts.channel[0]), static_cast<int>(facts.channel[1]),
                      static_cast<int>(facts.channel[2])};
  for (int64_t i = 0; i < row.count(); i += 3) {
    for (int c = 0; c < 3; ++c) ordered[i + c] = values[i + from[c]];
  }
}

// Takes floats of any range.
class Ordered : public PixelStep {
 public:
  bool by_value() const override { return false; }
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    HEADRACE_RETURN_IF_ERROR(CheckColor(before));
    return before;
  }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    row.has_floats() ? Order<float>(row, facts, target) : Order<uint8_t>(row, facts, target);
  }
};

class RandomChannelPermutation : public ImagePixelKernel {
 public:
  explicit RandomChannelPermutation(const ir::Attributes&) {}
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    steps.Add(ChannelOrderStep(), DrawChannelOrder(random));
  }
};

ir::Declaration DeclaredChannelOrder() {
  ir::Declaration declaration =
      ColorDeclaration("RandomChannelPermutation", "Puts the channels of an image into a random order.", "");
  declaration.doc =
      "Takes uint8 or float32 of shape (H, W, 3), or (H, W, 1) or (H, W), and gives the same type and shape. All six "
      "orders are equally likely, as in torchvision's RandomChannelPermutation. An image of one channel stays as it "
      "is.\n"
      "Errors: another dtype, rank or number of channels.";
  declaration.traits.random = true;
  return declaration;
}

const KernelRegistration channel_order_registration{DeclaredChannelOrder(), Makes<RandomChannelPermutation>()};

}  // namespace

const PixelStep& ChannelOrderStep() {
  static const Ordered step;
  return step;
}

std::array<double, 3> DrawChannelOrder(RowRandom& random) {
  std::array<double, 3> order = {0, 1, 2};
  for (uint64_t left = 3; left > 1; --left) std::swap(order[left - 1], order[random.Below(left)]);
  return order;
}

}  // namespace headrace
