#include "io/formats/tfrecord/feature_values.h"

#include <cstring>

#include "io/formats/wire/wire_fields.h"

namespace headrace {
namespace {

// Field numbers: the value of an entry, the features of a FeatureList, the values of a list.
constexpr uint32_t kEntryValue = 2;
constexpr uint32_t kStep = 1;
constexpr uint32_t kListValue = 1;

// Whole numbers whose memory is kept for the next feature.
constexpr size_t kMostKept = size_t{1} << 20;

bool IsKind(const WireFields& fields) {
  const auto number = fields.number();
  return fields.type() == WireType::kBytes && number >= 1 && number <= static_cast<uint32_t>(FeatureKind::kInt64s);
}

}  // namespace

std::string_view FeatureKindName(FeatureKind kind) {
  constexpr std::string_view kNames[] = {"nothing", "bytes", "float32", "int64"};
  return kNames[static_cast<size_t>(kind)];
}

void FeatureValues::Clear() {
  kind_ = FeatureKind::kNone;
  other_kind_.reset();
  uneven_ = false;
  count_ = steps_ = in_step_ = 0;
  if (ints_.capacity() > kMostKept) ints_ = {};
  ints_.clear();
  parts_.clear();
}

const char* FeatureValues::Read(const FeatureEntry& entry) {
  Clear();
  is_list_ = entry.is_list;
  if (!is_list_) BeginStep();
  WireFields fields(entry.bytes);
  while (fields.Next()) {
    if (!fields.Is(kEntryValue, WireType::kBytes)) continue;
    const char* const damage = is_list_ ? ReadSteps(fields.bytes()) : ReadFeature(fields.bytes());
    if (damage != nullptr) return damage;
  }
  if (!is_list_) EndStep();
  return fields.damaged() ? fields.at() : nullptr;
}

const char* FeatureValues::ReadSteps(std::string_view list) {
  WireFields fields(list);
  while (fields.Next()) {
    if (!fields.Is(kStep, WireType::kBytes)) continue;
    BeginStep();
    if (const char* const damage = ReadFeature(fields.bytes()); damage != nullptr) return damage;
    EndStep();
  }
  return fields.damaged() ? fields.at() : nullptr;
}

void FeatureValues::BeginStep() {
  step_kind_ = FeatureKind::kNone;
  step_count_ = 0;
  step_ints_ = ints_.size();
  step_parts_ = parts_.size();
}

void FeatureValues::EndStep() {
  if (kind_ == FeatureKind::kNone) kind_ = step_kind_;
  const bool other = step_kind_ != FeatureKind::kNone && step_kind_ != kind_;
  if (other && !other_kind_.has_value()) other_kind_ = step_kind_;
  if (steps_ == 0) in_step_ = step_count_;
  uneven_ |= step_count_ != in_step_;
  count_ += step_count_;
  ++steps_;
}

const char* FeatureValues::ReadFeature(std::string_view feature) {
  WireFields fields(feature);
  while (fields.Next()) {
    if (!IsKind(fields)) continue;
    const auto kind = static_cast<FeatureKind>(fields.number());
    if (kind != step_kind_) {
      step_kind_ = kind;
      step_count_ = 0;
      ints_.resize(step_ints_);
      parts_.resize(step_parts_);
    }
    if (const char* const damage = ReadList(fields.bytes()); damage != nullptr) return damage;
  }
  return fields.damaged() ? fields.at() : nullptr;
}

const char* FeatureValues::ReadList(std::string_view list) {
  WireFields fields(list);
  while (fields.Next()) {
    if (fields.number() != kListValue) continue;
    const bool packed = fields.type() == WireType::kBytes;
    if (step_kind_ == FeatureKind::kInt64s && packed) {
      if (const char* const damage = ReadInts(fields.bytes()); damage != nullptr) return damage;
    } else if (step_kind_ == FeatureKind::kInt64s && fields.type() == WireType::kVarint) {
      ints_.push_back(static_cast<int64_t>(fields.varint()));
      ++step_count_;
    } else if (step_kind_ == FeatureKind::kFloats && (packed || fields.type() == WireType::kFixed32)) {
      const std::string_view floats = fields.bytes();
      if (floats.size() % sizeof(float) != 0) return floats.data();
      parts_.push_back(floats);
      step_count_ += floats.size() / sizeof(float);
    } else if (step_kind_ == FeatureKind::kBytes && packed) {
      parts_.push_back(fields.bytes());
      ++step_count_;
    }
  }
  return fields.damaged() ? fields.at() : nullptr;
}

const char* FeatureValues::ReadInts(std::string_view packed) {
  const size_t before = ints_.size();
  ints_.resize(before + packed.size());
  int64_t* target = ints_.data() + before;
  const auto* at = reinterpret_cast<const uint8_t*>(packed.data());
  const uint8_t* const end = at + packed.size();
  while (at < end) {
    uint64_t value = 0;
    const uint8_t* const after = ReadVarint(at, end, value);
    if (after == nullptr) return reinterpret_cast<const char*>(at);
    *target++ = static_cast<int64_t>(value);
    at = after;
  }
  const auto count = static_cast<size_t>(target - ints_.data()) - before;
  ints_.resize(before + count);
  step_count_ += count;
  return nullptr;
}

void FeatureValues::CopyFloats(float* target) const {
  auto* at = reinterpret_cast<uint8_t*>(target);
  for (const std::string_view part : parts_) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
}

}  // namespace headrace
