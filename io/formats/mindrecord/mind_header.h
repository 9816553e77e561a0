// `ParseMindHeader` reads the header of a MindRecord file: JSON that says which fields a row has, and in which pages
// the rows are. Use it before anything else of the file is read: what it gives is complete and agrees with itself, and
// readers have no more to check than that pages lie within the file, and that rows lie within their pages' bytes.
// Threads: pure functions; a MindHeader is a value.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MIND_HEADER_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MIND_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace headrace {

struct MindField {
  std::string name = {};
  DType dtype = DType::kUnknown;  // int32, int64, float32, float64, string or bytes
  bool array = false;             // whether it has a shape
  Shape shape = {};               // of an array; at most one dimension is -1: it follows from the number of elements

  // Whether its values lie in blob pages. The others are scalars, in raw pages.
  bool in_blob() const { return array || dtype == DType::kBytes; }
  friend bool operator==(const MindField&, const MindField&) = default;
};

// The rows of one blob page; their scalars lie together in one raw page. All numbers of bytes are offsets in the file.
struct MindRowGroup {
  int64_t first = 0;  // row of the file
  int64_t rows = 0;
  int64_t raw_begin = 0;
  int64_t raw_end = 0;  // where its rows end at the latest
  int64_t blob_begin = 0;
  int64_t blob_end = 0;

  friend bool operator==(const MindRowGroup&, const MindRowGroup&) = default;
};

struct MindHeader {
  // Of its text, and of all that comes before the first page, in bytes.
  static constexpr int64_t kMostBytes = int64_t{128} << 20;
  static constexpr int64_t kMostPageBytes = int64_t{256} << 20;

  bool packed = false;  // version 3.0, where arrays of integers are packed; else 2.0
  int64_t header_size = 0;
  int64_t page_size = 0;
  std::vector<MindField> fields = {};    // in order of their names
  std::vector<size_t> blob_fields = {};  // of `fields`, in the order in which a blob has them
  std::vector<std::string> index_fields = {};
  std::vector<std::string> shard_addresses = {};  // names of the files of its set, without a folder
  int64_t shard_id = 0;                           // the number of this file among them
  std::vector<int64_t> page_bytes = {};           // of each page, its content
  std::vector<MindRowGroup> groups = {};          // in order of their rows
  int64_t rows = 0;

  int64_t PageBegin(int64_t page) const { return header_size + page_size * page; }
  friend bool operator==(const MindHeader&, const MindHeader&) = default;
};

// `text` is the JSON alone. kData: it is not JSON, lacks something, or contradicts itself. kUnsupported: another
// version, or fields of types that neither version has.
absl::StatusOr<MindHeader> ParseMindHeader(std::string_view text);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MIND_HEADER_H_
