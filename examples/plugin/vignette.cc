// A plugin for Headrace with one kernel: darkens an image towards its corners.
#include <algorithm>
#include <cmath>

#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

namespace {

class Vignette {
 public:
  static Declaration Declared() {
    Declaration declaration("Vignette", 1, "Darkens an image towards its corners.");
    declaration.Doc(
        "Takes uint8 (H, W, C) and gives the same: each pixel times 1 - strength * r², r being its distance "
        "from the centre as a part of the corners'.\nErrors: any other type.");
    declaration.Example("frames.Vignette(0.3)");
    declaration.Float("strength", "How dark the corners are.").Default("0.5").Minimum(0).Maximum(1);
    return declaration;
  }

  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>& inputs) {
    const bool image = !inputs[0].shape || inputs[0].shape->size() == 3;
    if (inputs[0].dtype != HEADRACE_UINT8 || !image) throw Error(HEADRACE_GRAPH_ERROR, "needs uint8 (H, W, C)");
    return inputs;
  }

  explicit Vignette(const Attributes& attributes) : strength_(attributes.Float("strength")) {}

  void Apply(Row& row) const {
    const Shape shape = row.shape(0);
    const double middle_y = (shape[0] - 1) / 2.0, middle_x = (shape[1] - 1) / 2.0;
    const double corner = std::max(middle_y * middle_y + middle_x * middle_x, 1.0);
    const uint8_t* from = row.data<uint8_t>(0);
    uint8_t* to = row.Allocate<uint8_t>(0, shape);
    for (int64_t y = 0; y < shape[0]; ++y) {
      for (int64_t x = 0; x < shape[1]; ++x) {
        const double square = (y - middle_y) * (y - middle_y) + (x - middle_x) * (x - middle_x);
        const double light = 1 - strength_ * square / corner;
        for (int64_t c = 0; c < shape[2]; ++c) *to++ = static_cast<uint8_t>(std::lround(*from++ * light));
      }
    }
  }

 private:
  double strength_;
};

}  // namespace

HEADRACE_PLUGIN("frames", "1.0", "Kernels for images.", Vignette)
