// Holds for every kernel that is declared: it is documented, has an example, and what it infers is what it gives. A new
// kernel fails here until it has a sample.
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "gtest/gtest.h"
#include "ir/declaration.h"
#include "kernels/fixture/golden.h"
#include "kernels/fixture/run_kernel.h"
#include "kernels/vision/fused_image.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Golden;
using fixture::Ints;

struct Sample {
  fixture::Given given;  // the attributes without a default, at least
  std::vector<Tensor> inputs;
};

Tensor Vector() {
  Tensor tensor = *Tensor::Allocate(DType::kInt32, {4});
  for (int32_t i = 0; i < 4; ++i) tensor.mutable_data<int32_t>()[i] = i;
  return tensor;
}

const std::map<std::string, Sample>& Samples() {
  static const auto* const samples = new std::map<std::string, Sample>{
      {"CenterCrop", {{{"size", ir::IntValue(20)}}, {Golden("source")}}},
      {"Concatenate", {{}, {Vector(), Vector(), Vector()}}},
      {"Decode", {{}, {fixture::Encoded("baseline_420.jpg")}}},
      {"Fill", {{{"value", ir::IntValue(9)}}, {Vector()}}},
      {"HWC2CHW", {{}, {Golden("source")}}},
      {"Normalize", {{{"mean", Floats({1, 2, 3})}, {"std", Floats({4})}}, {Golden("source")}}},
      {"OneHot", {{{"classes", ir::IntValue(5)}}, {Vector()}}},
      {"Pad", {{{"padding", Ints({1, 2})}}, {Golden("source")}}},
      {"PadEnd", {{{"shape", Ints({6})}}, {Vector()}}},
      {"RandomCrop", {{{"size", Ints({20, 30})}}, {Golden("source")}}},
      {"RandomHorizontalFlip", {{{"p", ir::FloatValue(1)}}, {Golden("source")}}},
      {"RandomResizedCrop", {{{"size", ir::IntValue(20)}}, {Golden("source")}}},
      {"RandomVerticalFlip", {{{"p", ir::FloatValue(1)}}, {Golden("source")}}},
      {"Rescale", {{{"scale", ir::FloatValue(0.5)}}, {Golden("source")}}},
      {"Resize", {{{"size", Ints({10})}}, {Golden("source")}}},
      {"Slice", {{{"start", ir::IntValue(1)}}, {Vector()}}},
      {"TypeCast", {{{"dtype", ir::StringValue("float32")}}, {Vector()}}},
  };
  return *samples;
}

std::vector<const ir::Declaration*> Kernels() {
  std::vector<const ir::Declaration*> kernels;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->role == ir::Role::kKernel) kernels.push_back(declaration);
  }
  return kernels;
}

bool IsSentence(const std::string& text) { return text.size() > 5 && text.back() == '.'; }

bool Agrees(const ir::ColumnType& inferred, const Tensor& tensor) {
  if (inferred.dtype != DType::kUnknown && inferred.dtype != tensor.dtype()) return false;
  if (!inferred.shape) return true;
  if (inferred.shape->size() != tensor.shape().size()) return false;
  for (int i = 0; i < tensor.rank(); ++i) {
    const int64_t size = (*inferred.shape)[i];
    if (size != ir::kUnknownDim && size != tensor.dim(i)) return false;
  }
  return true;
}

// What may be known of a tensor's type before it is seen: all of it, no sizes, no shape, nothing.
std::vector<ir::ColumnType> Knowledge(const Tensor& tensor) {
  const Shape unknown_sizes(tensor.shape().size(), ir::kUnknownDim);
  return {ir::ColumnType::Of(tensor.dtype(), tensor.shape()), ir::ColumnType::Of(tensor.dtype(), unknown_sizes),
          ir::ColumnType::AnyShape(tensor.dtype()), ir::ColumnType::Unknown()};
}

TEST(Registry, HoldsTheKernels) {
  EXPECT_EQ(Kernels().size(), Samples().size());
  for (const ir::Declaration* kernel : Kernels()) EXPECT_TRUE(Samples().contains(kernel->name)) << kernel->name;
}

TEST(Registry, EveryKernelIsDocumented) {
  for (const ir::Declaration* kernel : Kernels()) {
    EXPECT_TRUE(IsSentence(kernel->summary)) << kernel->name;
    EXPECT_TRUE(kernel->doc.find("Errors: ") != std::string::npos && IsSentence(kernel->doc)) << kernel->name;
    EXPECT_GE(kernel->version, 1) << kernel->name;
    EXPECT_TRUE(kernel->traits.one_to_one) << kernel->name;
    EXPECT_TRUE(kernel->python_module == "vision" || kernel->python_module == "transforms") << kernel->name;
    const std::string prefix = kernel->python_module == "vision" ? "V." : "T.";
    EXPECT_TRUE(kernel->example.starts_with(prefix + kernel->name + "(")) << kernel->example;
    for (const ir::Attribute& attribute : kernel->attributes) {
      EXPECT_TRUE(IsSentence(attribute.doc)) << kernel->name << "." << attribute.name;
      if (!attribute.default_value) continue;
      const auto value = ir::DefaultValue(attribute);
      ASSERT_TRUE(value.ok()) << kernel->name << "." << attribute.name << ": " << value.status();
      EXPECT_TRUE(ir::CheckValue(attribute, *value).empty()) << kernel->name << "." << attribute.name;
    }
  }
}

TEST(Registry, EveryKernelInfersWhatItGives) {
  for (const auto& [name, sample] : Samples()) {
    const absl::StatusOr<Tensor> output = fixture::RunKernel(name, sample.given, sample.inputs);
    ASSERT_TRUE(output.ok()) << name << ": " << output.status();
    EXPECT_FALSE(fixture::AllZero(*output)) << name;
    for (size_t known = 0; known < 4; ++known) {
      std::vector<ir::ColumnType> types;
      for (const Tensor& input : sample.inputs) types.push_back(Knowledge(input)[known]);
      const absl::StatusOr<ir::ColumnType> inferred = fixture::InferType(name, sample.given, types);
      ASSERT_TRUE(inferred.ok()) << name << " of " << ir::TypeName(types[0]) << ": " << inferred.status();
      EXPECT_TRUE(Agrees(*inferred, *output))
          << name << " infers " << ir::TypeName(*inferred) << " and gives " << output->TypeName();
      // Where all is known of the input, all is known of the output; a picture's size is known to nobody.
      EXPECT_TRUE(known > 0 || name == "Decode" || inferred->fully_known()) << name;
    }
  }
}

// What the optimizer fuses by a kernel's traits the fused pass must be able to do.
TEST(Registry, TraitsAreWhatTheFusedPassCanDo) {
  for (const auto& [name, sample] : Samples()) {
    const ir::Traits& traits = ir::Registry::Global().Find(name)->traits;
    const auto kernel = fixture::MakeKernel(name, sample.given);
    ASSERT_TRUE(kernel.ok()) << name;
    EXPECT_EQ(traits.decodes, dynamic_cast<const DecodeKernel*>(kernel->get()) != nullptr) << name;
    EXPECT_EQ(traits.geometric, dynamic_cast<const GeometricKernel*>(kernel->get()) != nullptr) << name;
    EXPECT_EQ(traits.pointwise || traits.layout, dynamic_cast<const PixelKernel*>(kernel->get()) != nullptr) << name;
  }
}

TEST(Registry, EveryKernelReadsViews) {
  for (const auto& [name, sample] : Samples()) {
    if (name == "Decode") continue;
    std::vector<Tensor> views;
    for (const Tensor& input : sample.inputs) views.push_back(fixture::WithGaps(input));
    const Tensor plain = *fixture::RunKernel(name, sample.given, sample.inputs);
    const absl::StatusOr<Tensor> viewed = fixture::RunKernel(name, sample.given, views);
    ASSERT_TRUE(viewed.ok()) << name << ": " << viewed.status();
    EXPECT_TRUE(TensorsEqual(*viewed, plain)) << name;
  }
}

// A result that is not a view lies where the context says: in the row's slot of its batch.
TEST(Registry, EveryKernelAllocatesItsResultByItsContext) {
  for (const auto& [name, sample] : Samples()) {
    const auto kernel = fixture::MakeKernel(name, sample.given);
    ASSERT_TRUE(kernel.ok()) << name;
    const Tensor plain = *fixture::RunKernel(name, sample.given, sample.inputs);
    const Tensor slot = *Tensor::Allocate(plain.dtype(), plain.shape());
    OutputAllocator allocator(slot);
    KernelContext context(RowRandom(0, 0, RowId{}), allocator);
    const absl::StatusOr<Tensors> outputs = (*kernel)->Apply(sample.inputs, context);
    ASSERT_TRUE(outputs.ok()) << name << ": " << outputs.status();
    const Tensor& output = (*outputs)[0];
    EXPECT_TRUE(TensorsEqual(output, plain)) << name;
    const bool is_view = output.buffer().get() == sample.inputs[0].buffer().get();
    EXPECT_TRUE(is_view || output.raw() == slot.raw()) << name;
  }
}

TEST(Registry, NoKernelTakesBytesForNumbers) {
  const Tensor text = *Tensor::CopyBytes(DType::kString, "text");
  for (const auto& [name, sample] : Samples()) {
    const absl::StatusOr<Tensor> output = fixture::RunKernel(name, sample.given, text);
    EXPECT_EQ(KindOf(output.status()), ErrorKind::kGraph) << name;
  }
}

TEST(MakeKernel, NamesWhatIsMissing) {
  const auto kernel = MakeKernel("NoSuchKernel", ir::Attributes());
  EXPECT_EQ(KindOf(kernel.status()), ErrorKind::kInternal);
}

}  // namespace
}  // namespace headrace
