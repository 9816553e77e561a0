// `CocoTable` holds the annotations of a set of images in columns: those of images in the order of the file, those of
// objects image after image, and within an image in the order of the file.
// Threads: a value.
#ifndef HEADRACE_IO_FORMATS_COCO_COCO_TABLE_H_
#define HEADRACE_IO_FORMATS_COCO_COCO_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headrace {

// What annotations say of the images.
enum class CocoTask { kDetection, kKeypoints, kCaptions, kPanoptic };

struct CocoCategory {
  int64_t id = 0;
  std::string name;
  std::string supercategory;
  bool is_thing = true;
  std::vector<std::string> keypoints;
  // Pairs of keypoints, counted from 1 as in the file.
  std::vector<std::pair<int64_t, int64_t>> skeleton;
};

// What was read as it is, although it may not be meant.
struct CocoDoubts {
  int64_t boxes_outside = 0;   // that reach beyond their image
  int64_t boxes_empty = 0;     // without width or height
  int64_t outlines_empty = 0;  // objects without an outline, or with a part of fewer than two points
  int64_t areas_missing = 0;   // taken from the box
  int64_t images_without = 0;  // without an annotation
  std::string first_outside;   // "annotation 17 of image 3"; "": there is none
  std::string first_empty;
};

struct CocoTable {
  // In the order of their ids; an object's category is the position here.
  std::vector<CocoCategory> categories;

  // Of each image.
  std::vector<int64_t> image_id;
  std::vector<std::string> file_name;
  std::vector<int64_t> height;
  std::vector<int64_t> width;
  std::vector<std::string> segments_file;  // of kPanoptic; "" where there is no annotation

  // Objects of image i are those from object_splits[i] to before object_splits[i + 1]; of kPanoptic segments, of
  // kCaptions captions.
  std::vector<int64_t> object_splits;
  std::vector<int64_t> object_id;
  std::vector<int64_t> category;
  std::vector<uint8_t> is_crowd;
  std::vector<float> area;
  std::vector<double> boxes;  // four each: left, top, width and height
  std::vector<std::string> captions;

  // Of each object: points of the categories' keypoints, x and y, and whether they are visible.
  int64_t keypoint_count = 0;
  std::vector<float> keypoints;
  std::vector<uint8_t> visibility;

  // Outlines of image i (core/outline_bytes.h) are bytes from outline_splits[i] to before outline_splits[i + 1].
  std::vector<uint8_t> outlines;
  std::vector<int64_t> outline_splits;

  CocoDoubts doubts;

  // Of the JSON: how many bytes it has, and their CRC-32C.
  int64_t bytes = 0;
  uint32_t checksum = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COCO_COCO_TABLE_H_
