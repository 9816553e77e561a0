#include "io/formats/voc/voc_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/error.h"
#include "core/printable.h"
#include "io/files/files_in_turn.h"
#include "io/files/xml/xml_scanner.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr std::string_view kSides[] = {"xmin", "ymin", "xmax", "ymax"};
constexpr int64_t kMaxFile = int64_t{1} << 26;
constexpr size_t kMostShown = 60;
// Of coordinates: float32 holds it.
constexpr double kMaxCoordinate = 1e30;

// An object, or a part of one.
struct VocThing {
  std::string name;
  std::array<double, 4> box = {};
  uint32_t sides = 0;  // a bit for each that was there
  uint8_t difficult = 0;
  uint8_t truncated = 0;
  uint8_t occluded = 0;
};

absl::Status SetSide(std::string_view element, std::string_view text, VocThing& thing) {
  const auto* const found = std::find(std::begin(kSides), std::end(kSides), element);
  if (found == std::end(kSides)) return absl::OkStatus();
  const auto side = static_cast<size_t>(found - std::begin(kSides));
  double& value = thing.box[side];
  const auto read = std::from_chars(text.begin(), text.end(), value);
  if (read.ec != std::errc() || read.ptr != text.end() || !(std::abs(value) <= kMaxCoordinate)) {
    return DataError("<", element, "> of an object is not a number: ", PrintableStart(text, kMostShown));
  }
  thing.sides |= 1U << side;
  return absl::OkStatus();
}

// Files of other tools have no size, or words in its place: no row needs it.
void SetImageSide(std::string_view text, double& side) {
  const auto read = std::from_chars(text.begin(), text.end(), side);
  if (read.ec != std::errc() || read.ptr != text.end() || !(side > 0 && side <= kMaxCoordinate)) side = 0;
}

// Other words than 1, such as "Unspecified", say no.
void SetMark(std::string_view element, std::string_view text, VocThing& thing) {
  const uint8_t mark = text == "1" ? 1 : 0;
  if (element == "difficult") thing.difficult = mark;
  if (element == "truncated") thing.truncated = mark;
  if (element == "occluded") thing.occluded = mark;
}

absl::Status CheckWhole(std::string_view what, const VocThing& thing, int64_t number) {
  if (thing.name.empty()) return DataError(what, " ", number, " has no <name>");
  if (thing.sides == 0xf) return absl::OkStatus();
  return DataError(what, " ", number, ", ", PrintableStart(thing.name, kMostShown),
                   ", has no <bndbox> of xmin, ymin, xmax and ymax");
}

// Reads the elements of one file.
class VocFile {
 public:
  VocFile(std::string_view xml, VocTable& table) : xml_(xml), table_(table) {}

  absl::Status Read() {
    while (true) {
      switch (xml_.Next()) {
        case XmlEvent::kBegin:
          HEADRACE_RETURN_IF_ERROR(Begin());
          break;
        case XmlEvent::kEnd:
          HEADRACE_RETURN_IF_ERROR(End());
          break;
        case XmlEvent::kDone:
          table_.object_splits.push_back(static_cast<int64_t>(table_.name.size()));
          table_.part_splits.push_back(static_cast<int64_t>(table_.part_name.size()));
          table_.width.push_back(width_);
          table_.height.push_back(height_);
          return absl::OkStatus();
        case XmlEvent::kError:
          return xml_.status();
      }
    }
  }

 private:
  // Below "annotation", "object" and further names: how many.
  size_t depth() const { return xml_.path().size(); }
  bool InObject() const { return depth() >= 2 && xml_.path()[1] == "object"; }
  bool InPart() const { return InObject() && depth() >= 3 && xml_.path()[2] == "part"; }

  absl::Status Begin() {
    if (depth() == 1 && xml_.path()[0] != "annotation") {
      return DataError("the outermost element is <", PrintableStart(xml_.path()[0], kMostShown),
                       ">; VOC's is <annotation>");
    }
    if (InObject() && depth() == 2) object_ = {};
    if (InPart() && depth() == 3) part_ = {};
    return absl::OkStatus();
  }

  absl::Status End() {
    if (depth() == 3 && xml_.path()[1] == "size") {
      if (xml_.path()[2] == "width") SetImageSide(xml_.text(), width_);
      if (xml_.path()[2] == "height") SetImageSide(xml_.text(), height_);
    }
    if (!InObject()) return absl::OkStatus();
    if (depth() == 2) return AddObject();
    if (!InPart()) return Set(3, object_);
    return depth() == 3 ? AddPart() : Set(4, part_);
  }

  // `at`: the depth of elements that are the thing's own.
  absl::Status Set(size_t at, VocThing& thing) {
    const std::string_view element = xml_.path().back();
    if (depth() == at && element == "name") thing.name = xml_.text();
    if (depth() == at) SetMark(element, xml_.text(), thing);
    if (depth() != at + 1 || xml_.path()[at - 1] != "bndbox") return absl::OkStatus();
    return SetSide(element, xml_.text(), thing);
  }

  absl::Status AddObject() {
    HEADRACE_RETURN_IF_ERROR(CheckWhole("object", object_, objects_));
    table_.name.push_back(object_.name);
    table_.boxes.insert(table_.boxes.end(), object_.box.begin(), object_.box.end());
    table_.difficult.push_back(object_.difficult);
    table_.truncated.push_back(object_.truncated);
    table_.occluded.push_back(object_.occluded);
    ++objects_;
    return absl::OkStatus();
  }

  absl::Status AddPart() {
    HEADRACE_RETURN_IF_ERROR(CheckWhole("a part of object", part_, objects_));
    table_.part_name.push_back(part_.name);
    table_.part_boxes.insert(table_.part_boxes.end(), part_.box.begin(), part_.box.end());
    table_.part_object.push_back(objects_);
    return absl::OkStatus();
  }

  XmlScanner xml_;
  VocTable& table_;
  VocThing object_;
  VocThing part_;
  int64_t objects_ = 0;
  double width_ = 0;
  double height_ = 0;
};

absl::Status AddFile(FilesInTurn& files, VocTable& table) {
  HEADRACE_ASSIGN_OR_RETURN(const Tensor bytes, files.Next());
  table.bytes += static_cast<int64_t>(bytes.bytes_value().size());
  table.checksum = Crc32c(bytes.bytes_value().data(), bytes.bytes_value().size(), table.checksum);
  return AddVocXml(bytes.bytes_value(), table);
}

}  // namespace

absl::Status AddVocXml(std::string_view xml, VocTable& table) { return VocFile(xml, table).Read(); }

absl::StatusOr<VocTable> ReadVoc(const FileSystem& files, absl::Span<const std::string> paths) {
  VocTable table;
  FilesInTurn read(files, {paths.begin(), paths.end()}, kMaxFile);
  for (const std::string& path : paths) {
    absl::Status status = AddFile(read, table);
    if (status.ok()) continue;
    AddErrorField(status, ErrorField::kFile, path);
    return status;
  }
  return table;
}

}  // namespace headrace
