#include "kernels/vision/color/color_kernel.h"

#include <array>
#include <utility>

#include "core/error.h"
#include "kernels/vision/image/image.h"

namespace headrace {

namespace {

// In turn, because a count that is raised twice in a row waits for itself.
void AddThreeHistograms(const PixelRow& row, int64_t* first, int64_t* second, int64_t* third) {
  const uint8_t* values = row.values;
  for (const uint8_t* const end = values + row.count(); values != end; values += 3) {
    ++first[values[0]];
    ++second[values[1]];
    ++third[values[2]];
  }
}

}  // namespace

absl::Status CheckColor(DType dtype, int64_t channels, std::string_view got) {
  if (dtype != DType::kUInt8 && dtype != DType::kFloat32 && dtype != DType::kUnknown) {
    return GraphError("needs pixels of uint8, or of float32 as ToFloat() gives them; got ", got);
  }
  if (channels == 1 || channels == 3 || channels == ir::kUnknownDim) return absl::OkStatus();
  return GraphError("needs an image of 1 channel or 3 (red, green, blue); got ", got);
}

absl::Status CheckColor(const PixelFormat& format) {
  return CheckColor(format.dtype, format.channels, Cat(DTypeName(format.dtype), " of ", format.channels, " channels"));
}

absl::StatusOr<PixelFormat> ColorStep::After(const PixelFormat& before) const {
  HEADRACE_RETURN_IF_ERROR(CheckColor(before));
  if (before.dtype != DType::kFloat32) return before;
  HEADRACE_RETURN_IF_ERROR(CheckFloats());
  PixelFormat after = before;
  after.within_unit = true;
  return after;
}

void TableStep::RunBytes(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const {
  std::array<uint8_t, 256> table;
  for (int64_t c = 0; c < row.channels; ++c) {
    Fill(facts, row.plane < 0 ? c : row.plane, absl::MakeSpan(table));
    for (int64_t i = c; i < row.count(); i += row.channels) target[i] = table[row.values[i]];
  }
}

void AddHistograms(const PixelRow& row, absl::Span<int64_t> counts) {
  if (row.has_floats()) {
    for (int64_t i = 0; i < row.count(); ++i) ++counts[(i % row.channels) * 256 + ByteOf(row.floats()[i])];
    return;
  }
  if (row.channels == 3) return AddThreeHistograms(row, counts.data(), counts.data() + 256, counts.data() + 512);
  for (int64_t c = 0; c < row.channels; ++c) {
    int64_t* const histogram = &counts[static_cast<size_t>(c) * 256];
    for (int64_t i = c; i < row.count(); i += row.channels) ++histogram[row.values[i]];
  }
}

ir::Declaration ColorDeclaration(std::string name, std::string summary, std::string says) {
  ir::Declaration declaration;
  declaration.example = Cat("V.", name, "()");
  declaration.name = std::move(name);
  declaration.summary = std::move(summary);
  declaration.doc = Cat(
      "Takes uint8, or float32 of 0 … 1, of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), "
      "and gives the same type and shape. ",
      says, "\nErrors: another dtype, rank or number of channels; floats that are not 0 … 1.");
  declaration.traits = {.per_pixel = true};
  declaration.python_module = "vision";
  declaration.sample = {.inputs = {ir::SampleInput::kImage}};
  declaration.infer_kernel = InferColor;
  declaration.clips = ir::Clips::kByFrame;
  return declaration;
}

ir::Declaration InSomeRows(ir::Declaration plain, std::string name, std::string p) {
  plain.summary = Cat(plain.name, " in some rows, chosen at random.");
  const size_t errors = plain.doc.find("\nErrors:");
  plain.doc.insert(errors, Cat(" This is done with probability `p`, as torchvision's ", name, " does it."));
  plain.example.replace(0, plain.name.size() + 2, Cat("V.", name));
  plain.name = std::move(name);
  plain.attributes.push_back({.name = "p",
                              .type = ir::AttributeType::kFloat,
                              .doc = "How likely a row is changed.",
                              .default_value = std::move(p),
                              .minimum = 0,
                              .maximum = 1});
  plain.sample.attributes.emplace_back("p", "1.0");
  plain.traits.random = true;
  return plain;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferColor(const ir::Attributes& /*attributes*/,
                                                       absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  const int64_t channels = !type.shape ? ir::kUnknownDim : type.shape->size() == 3 ? (*type.shape)[2] : 1;
  HEADRACE_RETURN_IF_ERROR(CheckColor(type.dtype, channels, ir::TypeName(type)));
  return std::vector{type};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferColorOf(const ColorStep& step,
                                                         absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::ColumnType> types, InferColor({}, inputs));
  // Of any image that it takes.
  HEADRACE_RETURN_IF_ERROR(step.After({.dtype = types[0].dtype}).status());
  return types;
}

}  // namespace headrace
