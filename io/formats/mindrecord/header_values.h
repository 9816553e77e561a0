// `HeaderValues` collects what the JSON of a MindRecord header says, in the order in which it comes, without keeping
// the text as a tree, since a header of 16 MiB can list 80,000 pages. Use it in ParseMindHeader alone, which checks it.
// Threads: one thread.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_HEADER_VALUES_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_HEADER_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace headrace {

struct HeaderValues {
  // A number that the text does not give, or not as a whole number of 63 bits.
  static constexpr int64_t kAbsent = -1;

  struct Field {
    std::string name = {};
    std::string type = {};
    bool shaped = false;
    bool shape_is_whole = true;  // all of its dimensions are whole numbers
    std::vector<int64_t> shape = {};
  };
  struct Group {
    int64_t id = kAbsent;
    int64_t offset = kAbsent;
  };
  struct Page {
    std::string type = {};
    int64_t id = kAbsent;
    int64_t type_id = kAbsent;
    int64_t start_row = kAbsent;
    int64_t end_row = kAbsent;
    int64_t bytes = kAbsent;
    std::vector<Group> groups = {};
  };

  std::string version = {};
  int64_t header_size = kAbsent;
  int64_t page_size = kAbsent;
  int64_t shard_id = kAbsent;
  int64_t schemas = 0;  // how many it lists; the fields are those of the last
  std::vector<Field> fields = {};
  std::vector<std::string> blob_fields = {};
  std::vector<std::string> index_fields = {};
  std::vector<std::string> shard_addresses = {};
  std::vector<Page> pages = {};
};

// kData: the text is not a JSON object.
absl::Status CollectHeaderValues(std::string_view text, HeaderValues& values);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_HEADER_VALUES_H_
