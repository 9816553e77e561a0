#include "kernels/vision/channel_order.h"

#include <cstring>
#include <utility>

#include "kernels/vision/color_kernel.h"

namespace headrace {
namespace {

class Ordered : public ColorStep {
 public:
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    if (row.channels != 3) {
      std::memcpy(target, row.values, static_cast<size_t>(row.count()));
      return;
    }
    const int from[] = {static_cast<int>(facts.channel[0]), static_cast<int>(facts.channel[1]),
                        static_cast<int>(facts.channel[2])};
    for (int64_t i = 0; i < row.count(); i += 3) {
      for (int c = 0; c < 3; ++c) target[i + c] = row.values[i + from[c]];
    }
  }
};

class RandomChannelPermutation : public ImagePixelKernel {
 public:
  explicit RandomChannelPermutation(const ir::Attributes&) {}
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    steps.Add(ChannelOrderStep(), DrawChannelOrder(random));
  }
};

ir::Declaration Declared() {
  ir::Declaration declaration =
      ColorDeclaration("RandomChannelPermutation", "Puts the channels of an image into a random order.",
                       "All six orders are equally likely, as in torchvision's RandomChannelPermutation. An image of "
                       "one channel stays as "
                       "it is.");
  declaration.traits.random = true;
  return declaration;
}

const KernelRegistration registration{Declared(), Makes<RandomChannelPermutation>()};

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
