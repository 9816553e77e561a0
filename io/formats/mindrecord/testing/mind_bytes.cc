#include "io/formats/mindrecord/testing/mind_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_join.h"
#include "core/text.h"

namespace headrace {
namespace {

std::string LittleLength(uint64_t length) { return {reinterpret_cast<const char*>(&length), sizeof(length)}; }

std::string BigNumber(uint64_t number, size_t bytes) {
  std::string text;
  for (size_t i = bytes; i > 0; --i) text.push_back(static_cast<char>(number >> (8 * (i - 1))));
  return text;
}

std::string Framed(std::string_view bytes) { return Cat(LittleLength(bytes.size()), bytes); }

std::string PageText(size_t number, bool raw, size_t type_id, size_t first, size_t end, const std::string& groups,
                     size_t bytes) {
  return Cat(R"({"page_id":)", number, R"(,"shard_id":0,"page_type":")", raw ? "RAW_DATA" : "BLOB_DATA",
             R"(","page_type_id":)", type_id, R"(,"start_row_id":)", first, R"(,"end_row_id":)", end,
             R"(,"row_group_ids":[)", groups, R"(],"page_size":)", bytes, "}");
}

}  // namespace

std::string MindHeadBytes(std::string_view header) { return Framed(header); }

std::string MindFileBytes(const std::vector<MindBytesRow>& rows, const MindBytesOptions& options) {
  std::vector<std::string> contents;
  std::vector<std::string> pages;
  std::string scalars, groups;
  for (size_t first = 0; first < rows.size(); first += options.rows_in_page) {
    const size_t end = std::min(rows.size(), first + options.rows_in_page);
    Append(groups, groups.empty() ? "" : ",", R"({"id":)", contents.size(), R"(,"offset":)", scalars.size(), "}");
    std::string blobs;
    for (size_t row = first; row < end; ++row) {
      blobs += Framed(rows[row].blob);
      scalars += Framed(rows[row].scalars);
    }
    pages.push_back(
        PageText(contents.size(), false, contents.size(), first, end, R"({"id":0,"offset":0})", blobs.size()));
    contents.push_back(std::move(blobs));
  }
  if (!rows.empty()) pages.push_back(PageText(contents.size(), true, 0, 0, 0, groups, scalars.size()));
  if (!rows.empty()) contents.push_back(std::move(scalars));
  std::string bytes = MindHeadBytes(
      Cat(R"({"header_size":)", options.header_size, R"(,"index_fields":)", options.index_fields, R"(,"page":)",
          rows.empty() ? "null" : Cat("[", absl::StrJoin(pages, ","), "]"), R"(,"page_size":)", options.page_size,
          R"(,"compression_size":0,"schema":[{"blob_fields":)", options.blob_fields, R"(,"desc":"","schema":)",
          options.fields, R"(}],"shard_addresses":[")", absl::StrJoin(options.shard_addresses, R"(",")"),
          R"("],"shard_id":)", options.shard_id, R"(,"statistics":null,"version":")", options.version, R"("})"));
  for (size_t page = 0; page < contents.size(); ++page) {
    bytes.resize(static_cast<size_t>(options.header_size) + page * static_cast<size_t>(options.page_size));
    bytes += contents[page];
  }
  return bytes;
}

std::string MindText(std::string_view text) { return Cat("\xdb", BigNumber(text.size(), 4), text); }

std::string MindMap(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string map = Cat("\xdf", BigNumber(values.size(), 4));
  for (const auto& [name, value] : values) map += MindText(name) + value;
  return map;
}

std::string MindWhole(int64_t value) {
  if (value >= 0 && value < 128) return std::string(1, static_cast<char>(value));
  return Cat(value < 0 ? "\xd3" : "\xcf", BigNumber(static_cast<uint64_t>(value), 8));
}

std::string MindReal(double value) { return Cat("\xcb", BigNumber(std::bit_cast<uint64_t>(value), 8)); }

std::string MindFrames(const std::vector<std::string>& fields) {
  std::string blob;
  for (const std::string& field : fields) blob += BigNumber(field.size(), 8) + field;
  return blob;
}

MindBytesRow MindLabelRow(int64_t label, std::string data) {
  return {MindMap({{"label", MindWhole(label)}}), std::move(data)};
}

}  // namespace headrace
