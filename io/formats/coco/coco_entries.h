// `CocoEntries` reads the entries of the sections of a file of annotations, in any order of sections, and `Joined`
// makes the table of them. Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_COCO_COCO_ENTRIES_H_
#define HEADRACE_IO_FORMATS_COCO_COCO_ENTRIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/outline_bytes.h"
#include "core/printable.h"
#include "io/formats/coco/coco_table.h"
#include "io/formats/json/json_scanner.h"

namespace headrace {

// Of boxes and areas: float32 holds it.
inline constexpr double kMaxCocoMeasure = 1e30;

// A text of the file, shortened for a message.
inline std::string ShownCocoText(std::string_view text) { return PrintableStart(text, 60); }

class CocoEntries {
 public:
  explicit CocoEntries(CocoTask task) : task_(task) {}

  // One entry each, which comes next in the JSON; false: the scanner has an error.
  bool ReadImage(JsonScanner& json);
  bool ReadCategory(JsonScanner& json);
  bool ReadAnnotation(JsonScanner& json);

  // Moves what was read. kData, naming the entry: ids that occur twice or refer to nothing, and sizes that differ.
  absl::StatusOr<CocoTable> Joined() &&;

 private:
  struct ReadObject {
    int64_t image = 0;  // its id; the position once it is known
    int64_t id = 0;
    int64_t category = 0;
    std::array<double, 4> box = {};
    double area = 0;
    bool has_area = false;
    bool is_crowd = false;
    bool has_gaps = false;  // a part of the outline draws nothing
    // What it has in outlines_, keypoints_ and captions_.
    size_t outline_begin = 0;
    size_t outline_size = 0;
    int64_t runs_height = 0;  // 0: the outline is polygons
    int64_t runs_width = 0;
    size_t keypoint_values = 0;
    size_t keypoints_begin = 0;
  };
  // Which members of an object were there.
  struct Seen {
    bool id = false;
    bool image = false;
    bool category = false;
    bool box = false;
    bool outline = false;
    bool caption = false;
    bool keypoints = false;
    bool segments = false;
    bool file = false;
  };

  bool ReadMember(JsonScanner& json, const std::string& key, ReadObject& object, Seen& seen);
  bool ReadWhole(JsonScanner& json, const char* what, int64_t& whole);
  bool ReadBox(JsonScanner& json, ReadObject& object);
  bool ReadArea(JsonScanner& json, ReadObject& object);
  bool ReadCrowd(JsonScanner& json, ReadObject& object);
  bool ReadKeypoints(JsonScanner& json, ReadObject& object);
  bool ReadSkeleton(JsonScanner& json, CocoCategory& category);
  bool ReadOutline(JsonScanner& json, ReadObject& object);
  bool ReadPolygons(JsonScanner& json, ReadObject& object);
  bool ReadPolygon(JsonScanner& json);
  bool AddPolygon(JsonScanner& json, bool boxes, ReadObject& object);
  bool ReadRuns(JsonScanner& json, ReadObject& object);
  bool ReadRunLengths(JsonScanner& json);
  bool ReadSegments(JsonScanner& json);
  bool CheckSeen(JsonScanner& json, const Seen& seen);

  absl::Status JoinCategories(CocoTable& table);
  absl::Status FindImages(CocoTable& table);
  absl::Status FindCategories(const CocoTable& table);
  absl::Status CheckIds() const;
  absl::Status CheckObject(const CocoTable& table, const ReadObject& object) const;
  absl::Status CheckKeypoints(CocoTable& table) const;
  std::vector<size_t> OrderByImage(CocoTable& table) const;
  void JoinObject(const ReadObject& object, size_t number, CocoTable& table);
  void CountDoubts(const ReadObject& object, CocoTable& table) const;
  void JoinOutlines(const std::vector<size_t>& order, CocoTable& table) const;

  const CocoTask task_;
  CocoTable images_;
  std::vector<CocoCategory> categories_;
  std::vector<ReadObject> objects_;
  std::string outlines_;
  std::vector<double> keypoints_;
  std::vector<std::string> captions_;
  // Of kPanoptic: annotations, each of an image.
  struct SegmentsOfImage {
    int64_t image;
    std::string file;
  };
  std::vector<SegmentsOfImage> segments_of_;
  // Used again for each entry.
  std::string key_;
  std::string text_;
  std::string file_;
  std::vector<double> numbers_;
  std::vector<ReadObject> segments_;
  Outline outline_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_COCO_COCO_ENTRIES_H_
