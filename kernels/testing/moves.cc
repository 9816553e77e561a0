#include "kernels/testing/moves.h"

#include "ir/graph.pb.h"

namespace headrace::fixture {

bool Move::turns() const {
  return within > 0 && (kernel.find("Rot") != std::string::npos || kernel.find("Affine") != std::string::npos ||
                        kernel.find("Perspective") != std::string::npos);
}

std::vector<Move> Moves() {
  const ir::proto::Value nearest = ir::StringValue("nearest");
  return {
      {"Crop",
       {{"top", ir::IntValue(-3)}, {"left", ir::IntValue(5)}, {"height", ir::IntValue(20)}, {"width", ir::IntValue(9)}},
       0},
      {"CenterCrop", {{"size", Ints({11, 40})}}, 0},
      {"CenterSquare", {}, 0},
      {"Pad", {{"padding", Ints({1, 2, 3, 4})}}, 0},
      {"PadToSize", {{"size", Ints({40, 50})}}, 0},
      {"PadToMultiple", {{"divisor", ir::IntValue(11)}}, 0},
      {"RandomCrop", {{"size", Ints({15, 17})}, {"padding", Ints({4})}}, 0},
      {"RandomSquare", {{"least", ir::IntValue(9)}, {"most", ir::IntValue(20)}}, 0},
      {"RandomSizeCrop", {{"min_size", ir::IntValue(9)}, {"max_size", ir::IntValue(20)}}, 0},
      {"HorizontalFlip", {}, 0},
      {"VerticalFlip", {}, 0},
      {"RandomHorizontalFlip", {}, 0},
      {"RandomVerticalFlip", {}, 0},
      {"RandomZoomOut", {{"side_range", Floats({1, 3})}}, 0},
      {"RandomPad", {{"area_range", Floats({1, 3})}}, 0},
      {"Rotate", {{"angle", ir::FloatValue(90)}, {"expand", ir::BoolValue(true)}}, 0},
      {"Rotate", {{"angle", ir::FloatValue(-90)}, {"expand", ir::BoolValue(true)}}, 0},
      {"Rotate", {{"angle", ir::FloatValue(180)}}, 0},
      {"Resize", {{"size", Ints({60, 48})}, {"interpolation", nearest}}, 1},
      {"RandomResizedCrop", {{"size", Ints({40, 41})}, {"interpolation", nearest}}, 1},
      {"RandomResize", {{"min_size", ir::IntValue(20)}, {"max_size", ir::IntValue(70)}, {"interpolation", nearest}}, 1},
      {"ScaleJitter", {{"target_size", Ints({60, 60})}, {"interpolation", nearest}}, 1},
      {"EnlargeToSize", {{"size", Ints({50, 60})}, {"interpolation", nearest}}, 1},
      {"FitInside", {{"size", Ints({50, 60})}, {"interpolation", nearest}}, 1},
      {"ResizeKeepRatio", {{"size", Ints({50, 60})}, {"interpolation", nearest}}, 1},
      {"ResizeToEdges", {{"shortest", ir::IntValue(50)}, {"longest", ir::IntValue(60)}, {"interpolation", nearest}}, 1},
      {"ResizeToMultiple", {{"divisor", ir::IntValue(9)}, {"interpolation", nearest}}, 1},
      {"ResizeByFactor", {{"factor", Floats({1.5, 1.2})}, {"interpolation", nearest}}, 1},
      {"RandomRotation", {{"degrees", Floats({-180, 180})}}, 1},
      {"RandomRotation", {{"degrees", Floats({-180, 180})}, {"expand", ir::BoolValue(true)}}, 1},
      {"Affine", {{"angle", ir::FloatValue(20)}, {"translate", Floats({3, -2})}, {"shear", Floats({9, 5})}}, 1},
      {"RandomAffine", {{"degrees", Floats({30})}, {"scale", Floats({0.7, 1.5})}, {"shear", Floats({10})}}, 1},
      {"RandomAffineResize",
       {{"degrees", Floats({20})},
        {"shear", Floats({0.2})},
        {"scale", Floats({0.8, 1.4})},
        {"ratio", Floats({0.8, 1.3})},
        {"interpolation", nearest}},
       1},
      {"RandomShortestSize", {{"min_size", Ints({20, 33})}, {"interpolation", nearest}}, 1},
      {"Perspective",
       {{"startpoints", Floats({0, 0, 31, 0, 31, 23, 0, 23})},
        {"endpoints", Floats({2, 1, 28, 0, 31, 20, 1, 23})},
        {"interpolation", nearest}},
       1},
      {"RandomPerspective", {{"p", ir::FloatValue(1)}, {"interpolation", nearest}}, 1},
      // Displacements of a fraction of a pixel, that change little along a box.
      {"ElasticTransform", {{"alpha", Floats({20, 30})}, {"sigma", Floats({6, 6})}, {"interpolation", nearest}}, 1},
  };
}

}  // namespace headrace::fixture
