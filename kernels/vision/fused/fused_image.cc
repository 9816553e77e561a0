#include "kernels/vision/fused/fused_image.h"

#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/philox.h"

namespace headrace {
namespace {

std::shared_ptr<const FusedRun> FuseImageRun(absl::Span<const FusedRun::Part> parts) {
  auto fused = std::make_shared<FusedImage>(FusedImage::Make(parts));
  return fused->parts() > 1 ? std::move(fused) : nullptr;
}

const FusedRunRegistration fused_image_registration(FuseImageRun);

}  // namespace

FusedImage FusedImage::Make(absl::Span<const Part> parts) {
  FusedImage fused;
  size_t at = 0;
  if (at < parts.size()) {
    fused.decoder_ = dynamic_cast<const DecodeKernel*>(parts[at].kernel);
    at += fused.decoder_ != nullptr ? 1 : 0;
  }
  for (; at < parts.size(); ++at) {
    const auto* mover = dynamic_cast<const GeometricKernel*>(parts[at].kernel);
    if (mover == nullptr) break;
    fused.moves_.push_back({mover, parts[at].seed, parts[at].salt});
  }
  bool channels_first = false;
  for (; at < parts.size(); ++at) {
    const auto* pixel = dynamic_cast<const PixelKernel*>(parts[at].kernel);
    if (pixel == nullptr || !pixel->Takes(channels_first)) break;
    channels_first |= pixel->moves_channels_first();
    fused.pixels_.push_back({pixel, parts[at].seed, parts[at].salt});
  }
  fused.parts_ = at;
  return fused;
}

absl::StatusOr<MovePlan> FusedImage::Plan(int64_t height, int64_t width, const RowId& id) const {
  MovePlan plan(height, width);
  for (const Drawing<GeometricKernel>& move : moves_) {
    RowRandom random(move.seed, move.salt, id);
    HEADRACE_RETURN_IF_ERROR(move.kernel->Plan(random, plan));
  }
  return plan;
}

PixelSteps FusedImage::Steps(const MovePlan& plan, const RowId& id) const {
  PixelSteps steps({plan.height(), plan.width()});
  for (const Drawing<PixelKernel>& pixel : pixels_) {
    RowRandom random(pixel.seed, pixel.salt, id);
    pixel.kernel->AddTo(steps, random);
  }
  return steps;
}

absl::StatusOr<Tensor> FusedImage::Write(const Image& image, const Window& held, const Window& needed, MovePlan plan,
                                         PixelSteps steps, OutputAllocator& output) const {
  HEADRACE_RETURN_IF_ERROR(plan.CheckFills(image));
  for (const Drawing<GeometricKernel>& move : moves_) {
    HEADRACE_RETURN_IF_ERROR(CheckImage(image.tensor, move.kernel->accepted()));
  }
  if (steps.Empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const Image moved, Moved(image, held, needed, plan, output));
    HEADRACE_RETURN_IF_ERROR(steps.CheckLeftOut(moved));
    return TensorOf(moved, output);
  }
  const MovePlan::Flips flips = plan.TakeLastFlips();
  OutputAllocator intermediate;
  HEADRACE_ASSIGN_OR_RETURN(const Image moved, Moved(image, held, needed, plan, intermediate));
  return RunPixelSteps(moved, flips, steps, output);
}

absl::StatusOr<Tensor> FusedImage::Apply(const Tensor& input, const RowId& id, OutputAllocator& output,
                                         RowNotes* notes) const {
  if (decoder_ == nullptr) {
    HEADRACE_RETURN_IF_ERROR(CheckImage(input, PixelTypes::kByteOrFloat));
    HEADRACE_ASSIGN_OR_RETURN(MovePlan plan, Plan(input.dim(0), input.dim(1), id));
    const bool keeps = pixels_.empty() && plan.Keeps(input.dim(0), input.dim(1));
    if (keeps && !plan.requires_fills()) return input;
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    const Window needed = plan.Needed();
    PixelSteps steps = Steps(plan, id);
    return Write(image, {0, 0, image.height, image.width}, needed, std::move(plan), std::move(steps), output);
  }
  std::optional<MovePlan> plan;
  std::optional<PixelSteps> steps;
  Window needed;
  const auto choose = [&](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
    HEADRACE_ASSIGN_OR_RETURN(plan, Plan(height, width, id));
    steps = Steps(*plan, id);
    needed = plan->Needed();
    const bool is_result = plan->moves().empty() && steps->Empty();
    return WantedPart(needed, is_result ? &output : nullptr, notes);
  };
  HEADRACE_ASSIGN_OR_RETURN(const DecodedPart part, decoder_->ApplyPart(input, choose));
  return Write(part.image, part.held, needed, *std::move(plan), *std::move(steps), output);
}

}  // namespace headrace
