// Holds for every kernel that is declared: it is documented, has an example and a sample, and what it infers is what it
// gives.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "gtest/gtest.h"
#include "ir/clip_types.h"
#include "ir/declaration.h"
#include "ir/front_module.h"
#include "ir/value_text.h"
#include "kernels/by_frame.h"
#include "kernels/chooser.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/testing/sample.h"
#include "kernels/vision/fused/fused_image.h"

namespace headrace {
namespace {

// Gives two tensors of unequal sizes.
class Ends : public Kernel {
 public:
  explicit Ends(const ir::Attributes&) {}
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    const Tensor& input = inputs[0];
    if (ItemSize(input.dtype()) == 0 || input.rank() == 0) return GraphError("needs numbers; got ", input.TypeName());
    return Tensors{input.Slice(0, 0, 2), input.Slice(0, input.dim(0) - 1, 1)};
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferEnds(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  std::vector<ir::ColumnType> types = {inputs[0], inputs[0]};
  if (types[0].shape) (*types[0].shape)[0] = 2;
  if (types[1].shape) (*types[1].shape)[0] = 1;
  return types;
}

const KernelRegistration registry_registration{{.name = "FakeEnds",
                                                .summary = "Gives the two first and the last element.",
                                                .doc = "Takes numbers.\nErrors: bytes or strings.",
                                                .python_module = "transforms",
                                                .example = "T.FakeEnds()",
                                                .sample = {.inputs = {ir::SampleInput::kVector}},
                                                .infer_kernel = InferEnds},
                                               Makes<Ends>()};

std::vector<const ir::Declaration*> KernelsAndChoosers() {
  std::vector<const ir::Declaration*> kernels;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->role == ir::Role::kKernel) kernels.push_back(declaration);
  }
  return kernels;
}

// Those with types and pixels of their own.
std::vector<const ir::Declaration*> Kernels() {
  std::vector<const ir::Declaration*> kernels = KernelsAndChoosers();
  std::erase_if(kernels, [](const ir::Declaration* kernel) { return kernel->branching != nullptr; });
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

// Whether the size of what it gives depends on boxes, keypoints or outlines.
bool SizeDependsOnValues(const std::string& kernel) {
  for (const char* const crop : {"RandomIoUCrop", "RandomObjectCrop", "RandomConstrainedCrop"}) {
    if (kernel.starts_with(crop)) return true;
  }
  if (kernel == "DrawMasks" || kernel == "DrawLabelMap" || kernel == "Mosaic") return true;
  return kernel.starts_with("Sanitize") || kernel == "SplitDetections";
}

// Whether it moves pixels to a size that it may draw. Masks of single boxes are moved as pixels are.
bool MayDrawSize(const ir::Declaration& kernel) {
  for (const ir::Declaration* pixels : Kernels()) {
    const std::string* const masks = pixels->CompanionFor(ir::CompanionRole::kObjectMasks);
    if (masks != nullptr && *masks == kernel.name) return MayDrawSize(*pixels);
  }
  return kernel.traits.random && kernel.traits.geometric;
}

// What may be known of a tensor's type before it is seen: all of it, no sizes, no shape, nothing.
std::vector<ir::ColumnType> Knowledge(const Tensor& tensor) {
  const Shape unknown_sizes(tensor.shape().size(), ir::kUnknownDim);
  return {ir::ColumnType::Of(tensor.dtype(), tensor.shape()), ir::ColumnType::Of(tensor.dtype(), unknown_sizes),
          ir::ColumnType::AnyShape(tensor.dtype()), ir::ColumnType::Unknown()};
}

TEST(Registry, HoldsTheKernels) { EXPECT_GE(Kernels().size(), 18u) << "are they linked in?"; }

TEST(Registry, EveryKernelHasASample) {
  for (const ir::Declaration* kernel : Kernels()) {
    const auto inputs = static_cast<int>(fixture::SampleInputs(*kernel).size());
    EXPECT_GE(inputs, kernel->min_inputs) << kernel->name << " lacks a .sample in its declaration";
    EXPECT_TRUE(kernel->max_inputs < 0 || inputs <= kernel->max_inputs) << kernel->name;
  }
}

TEST(Registry, EveryKernelIsDocumented) {
  for (const ir::Declaration* kernel : KernelsAndChoosers()) {
    EXPECT_TRUE(IsSentence(kernel->summary)) << kernel->name;
    EXPECT_TRUE(kernel->doc.find("Errors: ") != std::string::npos && IsSentence(kernel->doc)) << kernel->name;
    EXPECT_GE(kernel->version, 1) << kernel->name;
    EXPECT_TRUE(kernel->traits.one_to_one) << kernel->name;
    // Maps write those that are internal.
    if (kernel->python_module != "internal") {
      const ir::FrontModule* const module = ir::FindFrontModule(kernel->python_module);
      ASSERT_TRUE(module != nullptr && module->has_kernels()) << kernel->name;
      EXPECT_TRUE(kernel->example.starts_with(Cat(module->prefix, kernel->name, "("))) << kernel->example;
    }
    for (const ir::Attribute& attribute : kernel->attributes) {
      EXPECT_TRUE(IsSentence(attribute.doc)) << kernel->name << "." << attribute.name;
      if (!attribute.default_value) continue;
      const auto value = ir::DefaultValue(attribute);
      ASSERT_TRUE(value.ok()) << kernel->name << "." << attribute.name << ": " << value.status();
      EXPECT_TRUE(ir::CheckValue(attribute, *value).empty()) << kernel->name << "." << attribute.name;
    }
  }
}

TEST(Registry, CompanionsAreKernelsThatAreWrittenAsTheirs) {
  size_t companions = 0;
  for (const ir::Declaration* kernel : Kernels()) {
    for (const auto& [role, name] : kernel->companions) {
      SCOPED_TRACE(name);
      const ir::Declaration* const companion = ir::Registry::Global().Find(name);
      ASSERT_NE(companion, nullptr);
      EXPECT_EQ(companion->role, ir::Role::kKernel);
      EXPECT_EQ(companion->python_module, "internal");
      // Several kernels share one that gives marks.
      EXPECT_TRUE(role == ir::CompanionRole::kMarks || companion->written() == kernel->name) << kernel->name;
      ++companions;
    }
  }
  EXPECT_GT(companions, 100u);
}

// What a device draws for it comes from a companion.
TEST(Registry, WhatADeviceDoesHasACompanion) {
  std::set<ir::DeviceWork> found;
  for (const ir::Declaration* kernel : Kernels()) {
    const ir::DeviceWork work = kernel->on_device.work;
    if (work == ir::DeviceWork::kNone) continue;
    const bool flips = work == ir::DeviceWork::kFlips;
    const auto role = flips ? ir::CompanionRole::kMarks : ir::CompanionRole::kDraws;
    EXPECT_NE(kernel->CompanionFor(role), nullptr) << kernel->name;
    EXPECT_EQ(kernel->on_device.erases_middle.empty(), work != ir::DeviceWork::kErases) << kernel->name;
    for (const auto& [name, text] : kernel->on_device.erases_middle) {
      EXPECT_NE(kernel->FindAttribute(name), nullptr) << name;
      EXPECT_TRUE(ir::ParseValue(text).ok()) << text;
    }
    found.insert(work);
  }
  EXPECT_EQ(found.size(), 5u);
}

TEST(Registry, WhatLeavesPlacesMovesNothing) {
  for (const ir::Declaration* kernel : Kernels()) {
    if (!kernel->traits.leaves_places) continue;
    EXPECT_FALSE(kernel->traits.geometric) << kernel->name;
    EXPECT_EQ(kernel->CompanionFor(ir::CompanionRole::kBoxes), nullptr) << kernel->name;
  }
}

// The front finds those that it writes itself by their work.
TEST(Registry, EachWorkOnTargetsThatMapsWriteIsOneKernels) {
  std::map<ir::TargetWork, size_t> kernels;
  for (const ir::Declaration* kernel : Kernels()) ++kernels[kernel->target_work];
  for (auto work = ir::TargetWork::kPlacesBoxes; work <= ir::TargetWork::kTakesKeypoints;
       work = static_cast<ir::TargetWork>(static_cast<int>(work) + 1)) {
    EXPECT_EQ(kernels[work], 1u) << ir::TargetWorkName(work);
  }
}

TEST(Registry, EveryModuleOfKernelsHasOneOfItsSample) {
  for (const ir::FrontModule& module : ir::FrontModules()) {
    if (!module.has_kernels()) continue;
    EXPECT_TRUE(IsSentence(std::string(module.doc))) << module.name;
    const std::vector<const ir::Declaration*> kernels = Kernels();
    EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [&module](const ir::Declaration* kernel) {
      return kernel->python_module == module.name && !kernel->sample.inputs.empty() &&
             kernel->sample.inputs[0] == module.sample;
    })) << module.name;
  }
}

TEST(Registry, EveryKernelInfersWhatItGives) {
  for (const ir::Declaration* kernel : Kernels()) {
    SCOPED_TRACE(kernel->name);
    const fixture::Given given = fixture::SampleAttributes(*kernel);
    const std::vector<Tensor> inputs = fixture::SampleInputs(*kernel);
    const absl::StatusOr<Tensors> outputs = fixture::RunKernelOutputs(kernel->name, given, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (const Tensor& output : *outputs) EXPECT_FALSE(fixture::AllZero(output));
    for (size_t known = 0; known < 4; ++known) {
      std::vector<ir::ColumnType> types;
      for (const Tensor& input : inputs) types.push_back(Knowledge(input)[known]);
      const auto inferred = fixture::InferTypes(kernel->name, given, types);
      ASSERT_TRUE(inferred.ok()) << ir::TypeName(types[0]) << ": " << inferred.status();
      ASSERT_EQ(inferred->size(), outputs->size());
      for (size_t i = 0; i < outputs->size(); ++i) {
        const ir::ColumnType& type = (*inferred)[i];
        EXPECT_TRUE(Agrees(type, (*outputs)[i]))
            << "infers " << ir::TypeName(type) << " and gives " << (*outputs)[i].TypeName();
        // If the input type is fully known, so is the output type, except for sizes that are decoded or drawn.
        const bool may_draw_size = MayDrawSize(*kernel);
        const bool of_values = SizeDependsOnValues(kernel->name);
        EXPECT_TRUE(known > 0 || kernel->traits.decodes || may_draw_size || of_values || type.fully_known());
      }
    }
  }
}

// What the optimizer fuses by a kernel's traits the fused pass must be able to do.
TEST(Registry, TraitsAreWhatTheFusedPassCanDo) {
  for (const ir::Declaration* declared : Kernels()) {
    SCOPED_TRACE(declared->name);
    const ir::Traits& traits = declared->traits;
    const auto kernel = fixture::MakeKernel(declared->name, fixture::SampleAttributes(*declared));
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ(traits.decodes, dynamic_cast<const DecodeKernel*>(kernel->get()) != nullptr);
    EXPECT_EQ(traits.geometric, dynamic_cast<const GeometricKernel*>(kernel->get()) != nullptr);
    const auto* const pixel = dynamic_cast<const PixelKernel*>(kernel->get());
    EXPECT_EQ(traits.pointwise || traits.per_pixel || traits.layout, pixel != nullptr);
    if (pixel == nullptr) continue;
    EXPECT_EQ(traits.layout, pixel->moves_channels_first());
    const ir::Attributes attributes = *fixture::AttributesOf(declared->name, fixture::SampleAttributes(*declared));
    for (const bool channels_first : {false, true}) {
      EXPECT_EQ(declared->TakesImage(attributes, channels_first), pixel->Takes(channels_first)) << channels_first;
    }
  }
}

// Byte strings are never views with gaps.
bool TakesBytes(const ir::Declaration& kernel) {
  const std::vector<ir::SampleInput>& inputs = kernel.sample.inputs;
  return std::find(inputs.begin(), inputs.end(), ir::SampleInput::kEncoded) != inputs.end();
}

TEST(Registry, EveryKernelReadsViews) {
  for (const ir::Declaration* kernel : Kernels()) {
    if (kernel->traits.decodes || TakesBytes(*kernel)) continue;
    SCOPED_TRACE(kernel->name);
    const fixture::Given given = fixture::SampleAttributes(*kernel);
    const std::vector<Tensor> inputs = fixture::SampleInputs(*kernel);
    std::vector<Tensor> views;
    for (const Tensor& input : inputs) views.push_back(fixture::WithGaps(input));
    const Tensors plain = *fixture::RunKernelOutputs(kernel->name, given, inputs);
    const absl::StatusOr<Tensors> viewed = fixture::RunKernelOutputs(kernel->name, given, views);
    ASSERT_TRUE(viewed.ok()) << viewed.status();
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(TensorsEqual((*viewed)[i], plain[i]));
  }
}

// Three frames that differ, of the sample.
Tensor ClipOf(const Tensor& image) {
  const Tensor dense = *image.Contiguous();
  Shape shape = dense.shape();
  shape.insert(shape.begin(), 3);
  Tensor clip = *Tensor::Allocate(dense.dtype(), shape);
  const size_t bytes = dense.bytes();
  for (size_t i = 0; i < bytes; ++i) {
    clip.mutable_raw()[i] = dense.raw()[i];
    clip.mutable_raw()[bytes + i] = dense.raw()[bytes - 1 - i];
    clip.mutable_raw()[2 * bytes + i] = static_cast<uint8_t>(dense.raw()[i] / 2 + 90);
  }
  return clip;
}

// Every kernel of images takes clips, or is listed here.
TEST(Registry, EveryKernelOfImagesTakesClipsFrameByFrame) {
  const std::set<std::string_view> refused = {"EncodeJpeg", "EncodePng"};
  // Each value for itself, and so on arrays of any axes; the noise of each frame is its own.
  const std::set<std::string_view> any_axes = {"GaussianNoise", "RandomRescale", "Rescale", "ToFloat"};
  for (const ir::Declaration* declared : Kernels()) {
    const std::vector<Tensor> inputs = fixture::SampleInputs(*declared);
    const bool of_image = inputs[0].rank() == 3 && inputs[0].dtype() == DType::kUInt8;
    if (!ir::IsOfImages(declared->python_module) || !of_image || declared->traits.by_batch) continue;
    SCOPED_TRACE(declared->name);
    const auto kernel = *fixture::MakeKernel(declared->name, fixture::SampleAttributes(*declared));
    std::vector<Tensor> of_clip = inputs;
    of_clip[0] = ClipOf(inputs[0]);
    OutputAllocator output;
    const RowRandom random(7, 8, RowId{.epoch = 2, .key = 3});
    KernelContext context(random, output);
    if (refused.contains(declared->name)) {
      EXPECT_EQ(declared->OfClips(), ir::Clips::kNone);
      EXPECT_EQ(KindOf(kernel->Apply(of_clip, context).status()), ErrorKind::kGraph);
      continue;
    }
    if (any_axes.contains(declared->name)) {
      EXPECT_EQ(declared->OfClips(), ir::Clips::kNone);
      EXPECT_EQ((*kernel->Apply(of_clip, context))[0].shape(), of_clip[0].shape());
      continue;
    }
    ASSERT_EQ(declared->OfClips(), ir::Clips::kByFrame) << "say what it does with clips";
    const absl::StatusOr<Tensors> found = ApplyByFrame(*kernel, of_clip, context);
    ASSERT_TRUE(found.ok()) << found.status();
    for (int64_t frame = 0; frame < 3; ++frame) {
      std::vector<Tensor> of_frame = inputs;
      of_frame[0] = of_clip[0].Index(frame);
      KernelContext of_image_context(random, output);
      const Tensors expected = *kernel->Apply(of_frame, of_image_context);
      ASSERT_EQ(found->size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(TensorsEqual((*found)[i].Index(frame), expected[i])) << "frame " << frame;
      }
    }
    const ir::Attributes attributes = *fixture::AttributesOf(declared->name, fixture::SampleAttributes(*declared));
    for (size_t known = 0; known < 4; ++known) {
      std::vector<ir::ColumnType> types;
      for (const Tensor& input : of_clip) types.push_back(Knowledge(input)[known]);
      const auto inferred = ir::InferKernelTypes(*declared, attributes, types);
      ASSERT_TRUE(inferred.ok()) << inferred.status();
      for (size_t i = 0; i < found->size(); ++i) {
        EXPECT_TRUE(Agrees((*inferred)[i], (*found)[i])) << ir::TypeName((*inferred)[i]);
      }
    }
    // By itself it takes a batch of images for what it is not.
    EXPECT_EQ(KindOf(kernel->Apply(of_clip, context).status()), ErrorKind::kGraph);
  }
}

// A result that is not a view lies where the context says: in the row's slot of its batch.
TEST(Registry, EveryKernelAllocatesItsResultByItsContext) {
  for (const ir::Declaration* declared : Kernels()) {
    SCOPED_TRACE(declared->name);
    const std::vector<Tensor> inputs = fixture::SampleInputs(*declared);
    const auto kernel = *fixture::MakeKernel(declared->name, fixture::SampleAttributes(*declared));
    OutputAllocator none;
    KernelContext plain(RowRandom(0, 0, RowId{}), none);
    const Tensor expected = (*kernel->Apply(inputs, plain))[0];
    if (IsVariableLength(expected.dtype())) continue;  // a batch has no slots for it
    const Tensor slot = *Tensor::Allocate(expected.dtype(), expected.shape());
    OutputAllocator allocator(slot);
    KernelContext context(RowRandom(0, 0, RowId{}), allocator);
    const Tensor output = (*kernel->Apply(inputs, context))[0];
    EXPECT_TRUE(TensorsEqual(output, expected));
    const bool is_view = std::any_of(inputs.begin(), inputs.end(), [&output](const Tensor& input) {
      return output.buffer().get() == input.buffer().get();
    });
    EXPECT_TRUE(is_view || output.raw() == slot.raw());
  }
}

// Whether it gives values as they are, whatever they are, or is for texts.
bool TakesTexts(const std::string& kernel) { return kernel == "Duplicate" || kernel == "Stack" || kernel == "Lookup"; }

TEST(Registry, NoKernelTakesBytesForNumbers) {
  const std::vector<Tensor> text = {*Tensor::CopyBytes(DType::kString, "text")};
  for (const ir::Declaration* kernel : Kernels()) {
    if (TakesTexts(kernel->name)) continue;
    const auto outputs = fixture::RunKernelOutputs(kernel->name, fixture::SampleAttributes(*kernel), text);
    EXPECT_EQ(KindOf(outputs.status()), ErrorKind::kGraph) << kernel->name;
  }
}

TEST(Registry, WhatSaysHowItBranchesIsAChooser) {
  for (const ir::Declaration* declared : KernelsAndChoosers()) {
    const auto kernel = fixture::MakeKernel(declared->name, fixture::SampleAttributes(*declared));
    ASSERT_TRUE(kernel.ok()) << declared->name;
    EXPECT_EQ(declared->branching != nullptr, dynamic_cast<const Chooser*>(kernel->get()) != nullptr) << declared->name;
  }
}

TEST(MakeKernel, NamesWhatIsMissing) {
  const auto kernel = MakeKernel("NoSuchKernel", ir::Attributes());
  EXPECT_EQ(KindOf(kernel.status()), ErrorKind::kInternal);
}

}  // namespace
}  // namespace headrace
