#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "io/formats/coco/coco_entries.h"

namespace headrace {
namespace {

using PositionById = std::unordered_map<int64_t, int64_t, SeededHash>;

constexpr size_t kPointNumbers = 3;

bool HasOutlines(CocoTask task) { return task == CocoTask::kDetection || task == CocoTask::kKeypoints; }

double AreaOfBox(const std::array<double, 4>& box) { return box[2] * box[3]; }

}  // namespace

absl::Status CocoEntries::JoinCategories(CocoTable& table) {
  std::stable_sort(categories_.begin(), categories_.end(),
                   [](const CocoCategory& a, const CocoCategory& b) { return a.id < b.id; });
  for (size_t i = 1; i < categories_.size(); ++i) {
    if (categories_[i].id != categories_[i - 1].id) continue;
    return DataError("two categories have the id ", categories_[i].id, ": ", ShownCocoText(categories_[i - 1].name),
                     " and ", ShownCocoText(categories_[i].name));
  }
  table.categories = std::move(categories_);
  return absl::OkStatus();
}

// Replaces ids of images by positions.
absl::Status CocoEntries::FindImages(CocoTable& table) {
  PositionById positions;
  positions.reserve(table.image_id.size());
  for (size_t i = 0; i < table.image_id.size(); ++i) {
    const auto [known, added] = positions.emplace(table.image_id[i], static_cast<int64_t>(i));
    if (added) continue;
    return DataError("two images have the id ", table.image_id[i], ": ",
                     ShownCocoText(table.file_name[static_cast<size_t>(known->second)]), " and ",
                     ShownCocoText(table.file_name[i]));
  }
  for (ReadObject& object : objects_) {
    const auto found = positions.find(object.image);
    if (found == positions.end()) {
      return DataError("annotation ", object.id, " is of image ", object.image, ", which the file does not list");
    }
    object.image = found->second;
  }
  if (task_ != CocoTask::kPanoptic) return absl::OkStatus();
  table.segments_file.resize(table.image_id.size());
  for (const SegmentsOfImage& each : segments_of_) {
    const auto found = positions.find(each.image);
    if (found == positions.end()) {
      return DataError("the annotation of ", ShownCocoText(each.file), " is of image ", each.image,
                       ", which the file does not list");
    }
    std::string& file = table.segments_file[static_cast<size_t>(found->second)];
    if (!file.empty()) {
      return DataError("image ", each.image, " has two annotations: ", ShownCocoText(file), " and ",
                       ShownCocoText(each.file));
    }
    if (each.file.empty()) return DataError("the annotation of image ", each.image, " has an empty \"file_name\"");
    file = each.file;
  }
  return absl::OkStatus();
}

// Replaces ids of categories by positions.
absl::Status CocoEntries::FindCategories(const CocoTable& table) {
  if (task_ == CocoTask::kCaptions) return absl::OkStatus();
  PositionById positions;
  for (const CocoCategory& each : table.categories) {
    positions.emplace(each.id, static_cast<int64_t>(positions.size()));
  }
  for (ReadObject& object : objects_) {
    const auto found = positions.find(object.category);
    if (found == positions.end()) {
      return DataError("annotation ", object.id, " is of category ", object.category, ", which the file does not list");
    }
    object.category = found->second;
  }
  return absl::OkStatus();
}

// Segments are numbered within their image.
absl::Status CocoEntries::CheckIds() const {
  if (task_ == CocoTask::kPanoptic) return absl::OkStatus();
  std::vector<int64_t> ids;
  ids.reserve(objects_.size());
  for (const ReadObject& object : objects_) ids.push_back(object.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  return twice == ids.end() ? absl::OkStatus() : DataError("two annotations have the id ", *twice);
}

absl::Status CocoEntries::CheckObject(const CocoTable& table, const ReadObject& object) const {
  if (!object.has_area && std::abs(AreaOfBox(object.box)) > kMaxCocoMeasure) {
    return DataError("annotation ", object.id, " has no \"area\", and that of its box is beyond float32");
  }
  const auto image = static_cast<size_t>(object.image);
  const bool same = object.runs_height == table.height[image] && object.runs_width == table.width[image];
  if (object.runs_height == 0 || same) return absl::OkStatus();
  return DataError("the run lengths of annotation ", object.id, " are of height ", object.runs_height, " and width ",
                   object.runs_width, "; its image ", table.image_id[image], " has height ", table.height[image],
                   " and width ", table.width[image]);
}

absl::Status CocoEntries::CheckKeypoints(CocoTable& table) const {
  if (task_ != CocoTask::kKeypoints) return absl::OkStatus();
  size_t count = 0;
  for (const CocoCategory& each : table.categories) count = std::max(count, each.keypoints.size());
  if (count == 0 && !objects_.empty()) count = objects_[0].keypoint_values / kPointNumbers;
  for (const ReadObject& object : objects_) {
    if (object.keypoint_values != kPointNumbers * count) {
      return DataError("annotation ", object.id, " has ", object.keypoint_values, " numbers of keypoints; ", count,
                       " keypoints have three each: x, y and whether it is visible");
    }
    for (size_t i = kPointNumbers - 1; i < object.keypoint_values; i += kPointNumbers) {
      const double visible = keypoints_[object.keypoints_begin + i];
      if (visible == 0 || visible == 1 || visible == 2) continue;
      return DataError("annotation ", object.id,
                       " has a keypoint that is marked neither 0, 1 nor 2 for whether it is visible: ", visible);
    }
  }
  table.keypoint_count = static_cast<int64_t>(count);
  return absl::OkStatus();
}

// The numbers of objects_ image by image, and in the order of the file within them.
std::vector<size_t> CocoEntries::OrderByImage(CocoTable& table) const {
  std::vector<int64_t>& splits = table.object_splits;
  splits.assign(table.image_id.size() + 1, 0);
  for (const ReadObject& object : objects_) ++splits[static_cast<size_t>(object.image) + 1];
  for (size_t i = 1; i < splits.size(); ++i) splits[i] += splits[i - 1];
  std::vector<int64_t> next(splits.begin(), splits.end());
  std::vector<size_t> order(objects_.size());
  for (size_t i = 0; i < objects_.size(); ++i) {
    order[static_cast<size_t>(next[static_cast<size_t>(objects_[i].image)]++)] = i;
  }
  for (size_t i = 1; i < splits.size(); ++i) table.doubts.images_without += splits[i] == splits[i - 1] ? 1 : 0;
  return order;
}

void CocoEntries::CountDoubts(const ReadObject& object, CocoTable& table) const {
  CocoDoubts& doubts = table.doubts;
  const auto image = static_cast<size_t>(object.image);
  const auto& [left, top, width, height] = object.box;
  const auto named = [&] { return Cat("annotation ", object.id, " of image ", table.image_id[image]); };
  const bool outside = left < 0 || top < 0 || left + width > static_cast<double>(table.width[image]) ||
                       top + height > static_cast<double>(table.height[image]);
  if (outside && doubts.boxes_outside++ == 0) doubts.first_outside = named();
  if ((width <= 0 || height <= 0) && doubts.boxes_empty++ == 0) doubts.first_empty = named();
  doubts.outlines_empty += HasOutlines(task_) && object.has_gaps ? 1 : 0;
  doubts.areas_missing += object.has_area ? 0 : 1;
}

void CocoEntries::JoinObject(const ReadObject& object, size_t number, CocoTable& table) {
  table.object_id.push_back(object.id);
  if (task_ == CocoTask::kCaptions) {
    table.captions.push_back(std::move(captions_[number]));
    return;
  }
  CountDoubts(object, table);
  table.category.push_back(object.category);
  table.is_crowd.push_back(object.is_crowd ? 1 : 0);
  const double area = object.has_area ? object.area : AreaOfBox(object.box);
  table.area.push_back(static_cast<float>(area));
  table.boxes.insert(table.boxes.end(), object.box.begin(), object.box.end());
  for (size_t i = 0; i < object.keypoint_values; i += kPointNumbers) {
    const double* const point = &keypoints_[object.keypoints_begin + i];
    table.keypoints.push_back(static_cast<float>(point[0]));
    table.keypoints.push_back(static_cast<float>(point[1]));
    table.visibility.push_back(static_cast<uint8_t>(point[2]));
  }
}

void CocoEntries::JoinOutlines(const std::vector<size_t>& order, CocoTable& table) const {
  std::string none;
  AppendOutline({}, none);
  std::string head;
  table.outlines.reserve(outlines_.size() + 12 * table.image_id.size() + none.size() * objects_.size());
  table.outline_splits.push_back(0);
  for (size_t image = 0; image < table.image_id.size(); ++image) {
    const auto begin = static_cast<size_t>(table.object_splits[image]);
    const auto end = static_cast<size_t>(table.object_splits[image + 1]);
    head.clear();
    AppendOutlinesHead(table.height[image], table.width[image], end - begin, head);
    table.outlines.insert(table.outlines.end(), head.begin(), head.end());
    for (size_t at = begin; at < end; ++at) {
      const ReadObject& object = objects_[order[at]];
      std::string_view bytes = none;
      if (object.outline_size > 0)
        bytes = std::string_view(outlines_).substr(object.outline_begin, object.outline_size);
      table.outlines.insert(table.outlines.end(), bytes.begin(), bytes.end());
    }
    table.outline_splits.push_back(static_cast<int64_t>(table.outlines.size()));
  }
}

absl::StatusOr<CocoTable> CocoEntries::Joined() && {
  CocoTable table = std::move(images_);
  HEADRACE_RETURN_IF_ERROR(JoinCategories(table));
  HEADRACE_RETURN_IF_ERROR(FindImages(table));
  HEADRACE_RETURN_IF_ERROR(FindCategories(table));
  HEADRACE_RETURN_IF_ERROR(CheckIds());
  HEADRACE_RETURN_IF_ERROR(CheckKeypoints(table));
  for (const ReadObject& object : objects_) HEADRACE_RETURN_IF_ERROR(CheckObject(table, object));
  const std::vector<size_t> order = OrderByImage(table);
  for (const size_t number : order) JoinObject(objects_[number], number, table);
  if (HasOutlines(task_)) JoinOutlines(order, table);
  return table;
}

}  // namespace headrace
