#include "io/formats/coco/coco_entries.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "io/formats/coco/packed_runs.h"

namespace headrace {
namespace {

// Whole numbers up to here are doubles.
constexpr double kMaxExact = 9007199254740992.0;
constexpr size_t kBoxNumbers = 4;

bool IsMeasure(double number) { return std::abs(number) <= kMaxCocoMeasure; }

// Gives the next value as a number; null is none, and leaves `is_there` false.
bool ReadNumberOrNull(JsonScanner& json, JsonNumber& number, bool& is_there) {
  is_there = json.Peek() != JsonKind::kNull;
  return is_there ? json.ReadNumber(number) : json.Skip();
}

bool ReadSide(JsonScanner& json, int64_t& side) {
  JsonNumber number;
  if (!json.ReadNumber(number)) return false;
  if (!number.is_whole || number.whole < 1 || number.whole > kMaxOutlineSide) {
    return json.Fail(Cat("a height or width is not a whole number from 1 to ", kMaxOutlineSide));
  }
  side = number.whole;
  return true;
}

}  // namespace

bool CocoEntries::ReadWhole(JsonScanner& json, const char* what, int64_t& whole) {
  JsonNumber number;
  if (json.Peek() != JsonKind::kNumber) return json.Fail(Cat("\"", what, "\" must be a whole number"));
  if (!json.ReadNumber(number)) return false;
  const bool exact = std::abs(number.real) < kMaxExact && number.real == std::floor(number.real);
  if (!number.is_whole && !exact) return json.Fail(Cat("\"", what, "\" must be a whole number of 64 bits"));
  whole = number.is_whole ? number.whole : static_cast<int64_t>(number.real);
  return true;
}

bool CocoEntries::ReadImage(JsonScanner& json) {
  int64_t id = 0;
  int64_t height = 0;
  int64_t width = 0;
  Seen seen;
  file_.clear();
  if (!json.EnterObject()) return false;
  while (json.NextKey(key_)) {
    if (key_ == "id") {
      seen.id = ReadWhole(json, "id", id);
    } else if (key_ == "file_name") {
      seen.file = json.ReadText(file_);
    } else if (key_ == "height") {
      ReadSide(json, height);
    } else if (key_ == "width") {
      ReadSide(json, width);
    } else {
      json.Skip();
    }
  }
  if (json.ok() && (!seen.id || !seen.file)) {
    return json.Fail(Cat("it has no \"", seen.id ? "file_name" : "id", "\""));
  }
  if (json.ok() && task_ != CocoTask::kCaptions && (height == 0 || width == 0)) {
    return json.Fail(Cat("it has no \"", height == 0 ? "height" : "width", "\" (its id is ", id, ", its file ",
                         ShownCocoText(file_), ")"));
  }
  images_.image_id.push_back(id);
  images_.file_name.push_back(file_);
  images_.height.push_back(height);
  images_.width.push_back(width);
  return json.ok();
}

bool CocoEntries::ReadCategory(JsonScanner& json) {
  CocoCategory category;
  Seen seen;
  if (!json.EnterObject()) return false;
  while (json.NextKey(key_)) {
    if (key_ == "id") {
      seen.id = ReadWhole(json, "id", category.id);
    } else if (key_ == "name") {
      seen.file = json.ReadText(category.name);
    } else if (key_ == "supercategory" && json.Peek() == JsonKind::kText) {
      json.ReadText(category.supercategory);
    } else if (key_ == "isthing") {
      int64_t thing = 0;
      ReadWhole(json, "isthing", thing);
      category.is_thing = thing != 0;
    } else if (key_ == "keypoints" && json.Peek() == JsonKind::kArray) {
      json.EnterArray();
      while (json.NextElement() && json.ReadText(text_)) category.keypoints.push_back(text_);
    } else if (key_ == "skeleton" && json.Peek() == JsonKind::kArray) {
      ReadSkeleton(json, category);
    } else {
      json.Skip();
    }
  }
  if (json.ok() && (!seen.id || !seen.file)) {
    return json.Fail(Cat("it has no \"", seen.id ? "name" : "id", "\""));
  }
  categories_.push_back(std::move(category));
  return json.ok();
}

bool CocoEntries::ReadSkeleton(JsonScanner& json, CocoCategory& category) {
  json.EnterArray();
  while (json.NextElement()) {
    int64_t ends[2] = {};
    if (!json.EnterArray()) return false;
    for (int64_t& end : ends) {
      if (!json.NextElement()) return json.Fail("a bone of a skeleton has two keypoints");
      if (!ReadWhole(json, "skeleton", end)) return false;
    }
    if (json.NextElement()) return json.Fail("a bone of a skeleton has two keypoints");
    category.skeleton.emplace_back(ends[0], ends[1]);
  }
  return json.ok();
}

bool CocoEntries::ReadBox(JsonScanner& json, ReadObject& object) {
  if (!json.EnterArray()) return false;
  size_t count = 0;
  JsonNumber number;
  while (json.NextElement() && json.ReadNumber(number)) {
    if (!IsMeasure(number.real)) return json.Fail("a number of a box is beyond float32");
    if (count < kBoxNumbers) object.box[count] = number.real;
    ++count;
  }
  if (json.ok() && count != kBoxNumbers) return json.Fail(Cat("a box has four numbers, and this one ", count));
  return json.ok();
}

bool CocoEntries::ReadArea(JsonScanner& json, ReadObject& object) {
  JsonNumber number;
  if (!ReadNumberOrNull(json, number, object.has_area)) return false;
  if (!IsMeasure(number.real)) return json.Fail("an area is beyond float32");
  object.area = number.real;
  return true;
}

bool CocoEntries::ReadCrowd(JsonScanner& json, ReadObject& object) {
  if (json.Peek() == JsonKind::kBool) return json.ReadBool(object.is_crowd);
  int64_t crowd = 0;
  if (!ReadWhole(json, "iscrowd", crowd)) return false;
  if (crowd != 0 && crowd != 1) return json.Fail("\"iscrowd\" is neither 0 nor 1");
  object.is_crowd = crowd == 1;
  return true;
}

bool CocoEntries::ReadKeypoints(JsonScanner& json, ReadObject& object) {
  object.keypoints_begin = keypoints_.size();
  JsonNumber number;
  if (!json.EnterArray()) return false;
  while (json.NextElement() && json.ReadNumber(number)) {
    if (!IsMeasure(number.real)) return json.Fail("a number of a keypoint is beyond float32");
    keypoints_.push_back(number.real);
  }
  object.keypoint_values = keypoints_.size() - object.keypoints_begin;
  return json.ok();
}

bool CocoEntries::ReadPolygon(JsonScanner& json) {
  numbers_.clear();
  if (json.Peek() == JsonKind::kNumber) {
    return json.Fail("a segmentation is a list of polygons, which are lists of numbers, and not one list of numbers");
  }
  JsonNumber number;
  if (!json.EnterArray()) return false;
  while (json.NextElement() && json.ReadNumber(number)) numbers_.push_back(number.real);
  return json.ok();
}

// Adds the numbers as a part of the outline: points, or a box.
bool CocoEntries::AddPolygon(JsonScanner& json, bool boxes, ReadObject& object) {
  if (boxes && numbers_.size() == kBoxNumbers) {
    const double left = numbers_[0];
    const double top = numbers_[1];
    const double right = left + numbers_[2];
    const double bottom = top + numbers_[3];
    numbers_ = {left, top, left, bottom, right, bottom, right, top};
  } else if (boxes) {
    return json.Fail("a segmentation has a box of four numbers and polygons; write the box as a polygon");
  }
  if (numbers_.size() % 2 != 0) return json.Fail("a polygon has an odd number of numbers; they are x and y in turn");
  if (numbers_.size() < kBoxNumbers) object.has_gaps = true;
  for (size_t i = 0; i < numbers_.size(); i += 2) {
    const auto x = GridCoordinate(numbers_[i]);
    const auto y = GridCoordinate(numbers_[i + 1]);
    if (!x || !y) return json.Fail("a point of a polygon lies more than 3,000,000 pixels from the image");
    outline_.points.push_back({*x, *y});
  }
  outline_.part_ends.push_back(outline_.points.size());
  return true;
}

// As pycocotools, takes polygons for boxes where the first has four numbers.
bool CocoEntries::ReadPolygons(JsonScanner& json, ReadObject& object) {
  if (!json.EnterArray()) return false;
  bool boxes = false;
  while (json.NextElement()) {
    if (!ReadPolygon(json)) return false;
    if (outline_.part_ends.empty()) boxes = numbers_.size() == kBoxNumbers;
    if (!AddPolygon(json, boxes, object)) return false;
  }
  if (outline_.part_ends.empty()) object.has_gaps = true;
  return json.ok();
}

bool CocoEntries::ReadRunLengths(JsonScanner& json) {
  if (json.Peek() == JsonKind::kText) {
    if (!json.ReadText(text_)) return false;
    return UnpackRuns(text_, outline_.runs) || json.Fail("packed run lengths are damaged");
  }
  JsonNumber number;
  if (!json.EnterArray()) return false;
  while (json.NextElement() && json.ReadNumber(number)) {
    if (!number.is_whole || number.whole < 0) return json.Fail("a run length is not a whole number of at least 0");
    outline_.runs.push_back(static_cast<uint64_t>(number.whole));
  }
  return json.ok();
}

bool CocoEntries::ReadRuns(JsonScanner& json, ReadObject& object) {
  if (!json.EnterObject()) return false;
  bool has_runs = false;
  while (json.NextKey(key_)) {
    if (key_ == "size") {
      if (!json.EnterArray() || !json.NextElement() || !ReadSide(json, outline_.runs_height) || !json.NextElement() ||
          !ReadSide(json, outline_.runs_width) || json.NextElement()) {
        return json.Fail("the size of run lengths is a list of height and width");
      }
    } else if (key_ == "counts") {
      outline_.runs.clear();
      has_runs = ReadRunLengths(json);
    } else {
      json.Skip();
    }
  }
  if (!json.ok()) return false;
  if (!has_runs || outline_.runs_height == 0) return json.Fail("run lengths need \"size\" and \"counts\"");
  const auto pixels = static_cast<uint64_t>(outline_.runs_height * outline_.runs_width);
  uint64_t covered = 0;
  for (const uint64_t run : outline_.runs) {
    if (run > pixels - covered) return json.Fail("run lengths go beyond their \"size\"");
    covered += run;
  }
  outline_.by_runs = true;
  object.runs_height = outline_.runs_height;
  object.runs_width = outline_.runs_width;
  return true;
}

bool CocoEntries::ReadOutline(JsonScanner& json, ReadObject& object) {
  outline_.Clear();
  object.runs_height = 0;
  object.has_gaps = false;
  const JsonKind kind = json.Peek();
  if (kind == JsonKind::kArray) {
    ReadPolygons(json, object);
  } else if (kind == JsonKind::kObject) {
    ReadRuns(json, object);
  } else {
    json.Skip();
    if (json.ok() && kind != JsonKind::kNull) return json.Fail("a segmentation is neither polygons nor run lengths");
    object.has_gaps = true;
  }
  object.outline_begin = outlines_.size();
  AppendOutline(outline_, outlines_);
  object.outline_size = outlines_.size() - object.outline_begin;
  return json.ok();
}

bool CocoEntries::ReadSegments(JsonScanner& json) {
  segments_.clear();
  if (!json.EnterArray()) return false;
  while (json.NextElement()) {
    ReadObject segment;
    Seen seen;
    if (!json.EnterObject()) return false;
    while (json.NextKey(key_)) {
      if (!ReadMember(json, key_, segment, seen)) return false;
    }
    if (json.ok() && (!seen.id || !seen.category || !seen.box)) {
      return json.Fail("a segment has no \"id\", no \"category_id\" or no \"bbox\"");
    }
    segments_.push_back(segment);
  }
  return json.ok();
}

// Members that no task needs are skipped; `true` lists what a task reads.
bool CocoEntries::ReadMember(JsonScanner& json, const std::string& key, ReadObject& object, Seen& seen) {
  const bool has_objects = task_ != CocoTask::kCaptions;
  const bool has_outlines = task_ == CocoTask::kDetection || task_ == CocoTask::kKeypoints;
  if (key == "id") return seen.id = ReadWhole(json, "id", object.id);
  if (key == "image_id") return seen.image = ReadWhole(json, "image_id", object.image);
  if (has_objects && key == "category_id") return seen.category = ReadWhole(json, "category_id", object.category);
  if (has_objects && key == "bbox") return seen.box = ReadBox(json, object);
  if (has_objects && key == "area") return ReadArea(json, object);
  if (has_objects && key == "iscrowd") return ReadCrowd(json, object);
  if (has_outlines && key == "segmentation") return seen.outline = ReadOutline(json, object);
  if (task_ == CocoTask::kKeypoints && key == "keypoints") return seen.keypoints = ReadKeypoints(json, object);
  if (task_ == CocoTask::kCaptions && key == "caption") return seen.caption = json.ReadText(text_);
  return json.Skip();
}

bool CocoEntries::CheckSeen(JsonScanner& json, const Seen& seen) {
  const bool has_objects = task_ == CocoTask::kDetection || task_ == CocoTask::kKeypoints;
  const bool panoptic = task_ == CocoTask::kPanoptic;
  const struct {
    const char* name;
    bool missing;
  } members[] = {{"image_id", !seen.image},
                 {"id", !panoptic && !seen.id},
                 {"category_id", has_objects && !seen.category},
                 {"bbox", has_objects && !seen.box},
                 {"keypoints", task_ == CocoTask::kKeypoints && !seen.keypoints},
                 {"caption", task_ == CocoTask::kCaptions && !seen.caption},
                 {"file_name", panoptic && !seen.file},
                 {"segments_info", panoptic && !seen.segments}};
  for (const auto& [name, missing] : members) {
    if (!missing) continue;
    return json.Fail(Cat("it has no \"", name, "\""));
  }
  return true;
}

bool CocoEntries::ReadAnnotation(JsonScanner& json) {
  ReadObject object;
  Seen seen;
  const bool panoptic = task_ == CocoTask::kPanoptic;
  if (!json.EnterObject()) return false;
  while (json.NextKey(key_)) {
    if (panoptic && key_ == "file_name") {
      seen.file = json.ReadText(file_);
    } else if (panoptic && key_ == "segments_info") {
      seen.segments = ReadSegments(json);
    } else if (!ReadMember(json, key_, object, seen)) {
      return false;
    }
  }
  if (!json.ok() || !CheckSeen(json, seen)) return false;
  if (panoptic) {
    segments_of_.push_back({object.image, file_});
    for (ReadObject& segment : segments_) segment.image = object.image;
    objects_.insert(objects_.end(), segments_.begin(), segments_.end());
    return true;
  }
  if (task_ == CocoTask::kCaptions) captions_.push_back(text_);
  if (!seen.outline) object.has_gaps = true;
  objects_.push_back(object);
  return true;
}

}  // namespace headrace
