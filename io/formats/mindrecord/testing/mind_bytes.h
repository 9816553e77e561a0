// `MindFileBytes` makes the bytes of MindRecord files in memory, from rows that may be anything. Use it in tests.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_TESTING_MIND_BYTES_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_TESTING_MIND_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

// What stands between the lengths of a row.
struct MindBytesRow {
  std::string scalars;
  std::string blob;
};

struct MindBytesOptions {
  std::string version = "3.0";
  // The JSON of the schema's fields, and of the names of those in blobs.
  std::string fields = R"({"label":{"type":"int32"},"data":{"type":"bytes"}})";
  std::string blob_fields = R"(["data"])";
  std::string index_fields = "null";
  std::vector<std::string> shard_addresses = {"a"};
  int shard_id = 0;
  int64_t header_size = 2048;
  int64_t page_size = 4096;
  size_t rows_in_page = 1000;
};

// A page for the blobs of each rows_in_page rows, then one for the scalars of all.
std::string MindFileBytes(const std::vector<MindBytesRow>& rows, const MindBytesOptions& options = {});
// A file that begins with this header, without pages.
std::string MindHeadBytes(std::string_view header);
// Scalars as MessagePack: a map of texts to values, of which the following are.
std::string MindMap(const std::vector<std::pair<std::string, std::string>>& values);
std::string MindWhole(int64_t value);
std::string MindReal(double value);
std::string MindText(std::string_view text);
// A blob of several fields.
std::string MindFrames(const std::vector<std::string>& fields);
// A row of the schema of MindBytesOptions.
MindBytesRow MindLabelRow(int64_t label, std::string data);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_TESTING_MIND_BYTES_H_
