#include "ir/declaration.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/front_module.h"
#include "ir/graph.pb.h"
#include "ir/salts.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

Attribute SeedAttribute() {
  return {.name = "seed",
          .type = AttributeType::kInt,
          .doc = "This operator's own seed; None: the pipeline's.",
          .default_value = "None",
          .nullable = true};
}

Attribute NameAttribute() {
  return {.name = std::string(kNameAttribute),
          .type = AttributeType::kString,
          .doc =
              "Names this operator's random numbers, so that they stay the same when operators of its kind are added "
              "or removed; unique in the pipeline.",
          .default_value = "None",
          .nullable = true};
}

bool MayDraw(const Declaration& declaration) {
  return declaration.traits.random || std::any_of(declaration.attributes.begin(), declaration.attributes.end(),
                                                  [](const auto& attribute) { return !attribute.puts_above.empty(); });
}

absl::Status CheckHashedAs(const Declaration& declaration, const Attribute& attribute) {
  const auto has = [&attribute](const std::string& choice) {
    return std::find(attribute.choices.begin(), attribute.choices.end(), choice) != attribute.choices.end();
  };
  for (const auto& [choice, other] : attribute.hashed_as) {
    if (has(choice) && has(other)) continue;
    return GraphError("the declaration of ", declaration.name, ": ", attribute.name, " hashes ", choice, " as ", other,
                      ", and has not both choices");
  }
  return absl::OkStatus();
}

absl::Status CheckAttributes(const Declaration& declaration) {
  for (size_t i = 0; i < declaration.attributes.size(); ++i) {
    const Attribute& attribute = declaration.attributes[i];
    if (declaration.FindAttribute(attribute.name) != &attribute) {
      return GraphError("the declaration of ", declaration.name, " has two attributes named ", attribute.name);
    }
    HEADRACE_RETURN_IF_ERROR(CheckHashedAs(declaration, attribute));
    if (!attribute.default_value.has_value()) continue;
    const absl::Status fits = DefaultValue(attribute).status();
    if (!fits.ok()) return GraphError("the declaration of ", declaration.name, ": ", fits.message());
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view SampleInputName(SampleInput input) {
  switch (input) {
    case SampleInput::kImage:
      return "image";
    case SampleInput::kEncoded:
      return "encoded";
    case SampleInput::kVector:
      return "vector";
    case SampleInput::kImages:
      return "images";
    case SampleInput::kClasses:
      return "classes";
  }
  return "?";
}

std::string_view CompanionRoleName(CompanionRole role) {
  switch (role) {
    case CompanionRole::kBoxes:
      return "boxes";
    case CompanionRole::kKeypoints:
      return "keypoints";
    case CompanionRole::kObjectMasks:
      return "object_masks";
    case CompanionRole::kDraws:
      return "draws";
    case CompanionRole::kMarks:
      return "marks";
  }
  return "?";
}

std::string_view ClipsName(Clips clips) {
  switch (clips) {
    case Clips::kNone:
      return "none";
    case Clips::kByFrame:
      return "by_frame";
    case Clips::kWhole:
      return "whole";
  }
  return "?";
}

std::string_view TargetWorkName(TargetWork work) {
  switch (work) {
    case TargetWork::kNone:
      return "none";
    case TargetWork::kPlacesBoxes:
      return "places_boxes";
    case TargetWork::kPlacesKeypoints:
      return "places_keypoints";
    case TargetWork::kMatchesMask:
      return "matches_mask";
    case TargetWork::kMatchesFrameMasks:
      return "matches_frame_masks";
    case TargetWork::kMatchesObjectMasks:
      return "matches_object_masks";
    case TargetWork::kTakesBoxes:
      return "takes_boxes";
    case TargetWork::kTakesKeypoints:
      return "takes_keypoints";
    case TargetWork::kChangesBoxes:
      return "changes_boxes";
    case TargetWork::kConvertsBoxes:
      return "converts_boxes";
    case TargetWork::kChangesKeypoints:
      return "changes_keypoints";
  }
  return "?";
}

InferOp PassesSchema() {
  return [](const Attributes&, absl::Span<const Schema> inputs) -> absl::StatusOr<Schema> {
    if (inputs.empty()) return InternalError("PassesSchema() of an op without inputs");
    return inputs[0];
  };
}

Reads PassesColumns() {
  return [](const Attributes&, absl::Span<const Schema> inputs, const ColumnSet& wanted) {
    std::vector<ColumnSet> reads(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const Column& column : inputs[i].columns) {
        if (wanted.count(column.name) > 0) reads[i].insert(column.name);
      }
    }
    return reads;
  };
}

MostRows NoMoreRows() {
  return [](const Attributes&, absl::Span<const std::optional<uint64_t>> inputs) { return inputs[0]; };
}

const Attribute* Declaration::FindAttribute(std::string_view attribute) const {
  for (const Attribute& declared : attributes) {
    if (declared.name == attribute) return &declared;
  }
  return nullptr;
}

const std::string* Declaration::CompanionFor(CompanionRole role) const {
  for (const Companion& companion : companions) {
    if (companion.role == role) return &companion.name;
  }
  return nullptr;
}

bool Declaration::TakesImage(const Attributes& values, bool channels_first) const {
  if (takes_layout != nullptr) return takes_layout(values, channels_first);
  return !channels_first || !NeedsChannelsLast(traits);
}

Clips Declaration::OfClips() const {
  if (clips.has_value()) return *clips;
  const bool one_image = NeedsChannelsLast(traits) && !traits.by_batch && !traits.decodes;
  return one_image && IsOfImages(python_module) ? Clips::kByFrame : Clips::kNone;
}

int Branching::certain() const {
  if (none || several || std::count(drawn.begin(), drawn.end(), true) != 1) return -1;
  return static_cast<int>(std::find(drawn.begin(), drawn.end(), true) - drawn.begin());
}

Registry& Registry::Global() {
  // Never destroyed, because threads may use it while the process exits.
  static Registry* registry = new Registry;
  return *registry;
}

absl::Status Registry::Register(Declaration declaration, absl::FunctionRef<void()> before_visible) {
  if (declaration.name.empty()) return GraphError("the declaration of an operator has no name");
  if (MayDraw(declaration)) {
    if (declaration.FindAttribute("seed") == nullptr) declaration.attributes.push_back(SeedAttribute());
    declaration.attributes.push_back(NameAttribute());
  }
  HEADRACE_RETURN_IF_ERROR(CheckAttributes(declaration));
  const std::lock_guard lock(mutex_);
  if (Find(declaration.name) != nullptr) return GraphError("the declaration of ", declaration.name, " occurs twice");
  before_visible();
  std::string name = declaration.name;
  declarations_.Add(std::move(name), std::move(declaration));
  return absl::OkStatus();
}

void RequireRegistered(const absl::Status& status) {
  if (status.ok()) return;
  std::fputs(Cat("Headrace: ", status.message(), "\n").c_str(), stderr);
  std::abort();
}

DeclarationRegistration::DeclarationRegistration(Declaration declaration) {
  RequireRegistered(Registry::Global().Register(std::move(declaration)));
}

}  // namespace headrace::ir
