#include "io/formats/mindrecord/mind_header.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/seeded_hash.h"
#include "io/formats/mindrecord/header_values.h"

namespace headrace {
namespace {

// More elements than a page can hold, so that products of dimensions do not overflow.
constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr size_t kMostFieldAxes = 32;
constexpr int64_t kLeastPagedRowBytes = 8;  // its length

std::string Quoted(std::string_view name) { return Cat("\"", PrintableStart(name, 60), "\""); }

// Of the names that both versions have; kUnknown: another.
DType TypeOfField(std::string_view name) {
  if (name == "int32") return DType::kInt32;
  if (name == "int64") return DType::kInt64;
  if (name == "float32") return DType::kFloat32;
  if (name == "float64") return DType::kFloat64;
  if (name == "string") return DType::kString;
  return name == "bytes" ? DType::kBytes : DType::kUnknown;
}

absl::Status CheckFieldShape(const HeaderValues::Field& field) {
  int unknown = 0;
  int64_t elements = 1;
  bool fits = field.shape_is_whole && !field.shape.empty() && field.shape.size() <= kMostFieldAxes;
  for (const int64_t size : field.shape) {
    unknown += size == -1 ? 1 : 0;
    fits = fits && (size == -1 || (size > 0 && size <= kMostElements / elements));
    if (fits && size > 0) elements *= size;
  }
  if (fits && unknown <= 1) return absl::OkStatus();
  return DataError("the shape of the field ", Quoted(field.name),
                   " is none: dimensions are whole numbers from 1 on, and one of them may be -1");
}

absl::StatusOr<MindField> FieldOf(const HeaderValues::Field& field) {
  MindField made;
  made.name = field.name;
  made.dtype = TypeOfField(field.type);
  if (made.dtype == DType::kUnknown) {
    return UnsupportedError("the field ", Quoted(field.name), " has the type ", Quoted(field.type),
                            "; types are int32, int64, float32, float64, string and bytes: write the set anew");
  }
  made.array = field.shaped;
  if (!made.array) return made;
  if (IsVariableLength(made.dtype)) {
    return DataError("the field ", Quoted(field.name), " has a shape, and ", field.type, " has none");
  }
  HEADRACE_RETURN_IF_ERROR(CheckFieldShape(field));
  made.shape.assign(field.shape.begin(), field.shape.end());
  return made;
}

absl::Status SetFields(const HeaderValues& values, MindHeader& header) {
  if (values.schemas != 1 || values.fields.empty()) {
    return DataError("the header has ", values.schemas, " schemas, and ", values.fields.size(),
                     " fields; it must have one schema with at least one field");
  }
  for (const HeaderValues::Field& field : values.fields) {
    HEADRACE_ASSIGN_OR_RETURN(MindField made, FieldOf(field));
    header.fields.push_back(std::move(made));
  }
  const auto by_name = [](const MindField& a, const MindField& b) { return a.name < b.name; };
  std::sort(header.fields.begin(), header.fields.end(), by_name);
  const auto twice = std::adjacent_find(header.fields.begin(), header.fields.end(),
                                        [](const MindField& a, const MindField& b) { return a.name == b.name; });
  if (twice == header.fields.end()) return absl::OkStatus();
  return DataError("the header has the field ", Quoted(twice->name), " twice");
}

// Which must be all fields in blobs, in any order.
absl::Status SetBlobFields(const HeaderValues& values, MindHeader& header) {
  std::unordered_map<std::string_view, size_t, SeededHash> in_blob;
  for (size_t i = 0; i < header.fields.size(); ++i) {
    if (header.fields[i].in_blob()) in_blob.emplace(header.fields[i].name, i);
  }
  for (const std::string& name : values.blob_fields) {
    const auto found = in_blob.find(name);
    if (found == in_blob.end()) {
      return DataError("blob_fields names ", Quoted(name),
                       ", which is not a field of bytes or with a shape, or comes twice");
    }
    header.blob_fields.push_back(found->second);
    in_blob.erase(found);
  }
  if (in_blob.empty()) return absl::OkStatus();
  return DataError("blob_fields lacks ", in_blob.size(), " fields of bytes or with a shape");
}

absl::Status SetSizes(const HeaderValues& values, MindHeader& header) {
  if (values.version != "2.0" && values.version != "3.0") {
    return UnsupportedError("the file has version ", Quoted(values.version),
                            " of MindRecord; versions 2.0 and 3.0 are read");
  }
  header.packed = values.version == "3.0";
  header.header_size = values.header_size;
  header.page_size = values.page_size;
  header.shard_id = std::max<int64_t>(0, values.shard_id);
  if (values.header_size < 1 || values.header_size > MindHeader::kMostBytes) {
    return DataError("header_size is ", values.header_size, "; it is at most ", MindHeader::kMostBytes, " bytes");
  }
  if (values.page_size < 1 || values.page_size > MindHeader::kMostPageBytes) {
    return DataError("page_size is ", values.page_size, "; it is at most ", MindHeader::kMostPageBytes, " bytes");
  }
  return absl::OkStatus();
}

// A name of a file in the folder of the one that names it.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

absl::Status SetAddresses(HeaderValues& values, MindHeader& header) {
  for (const std::string& name : values.shard_addresses) {
    if (!IsPlainName(name)) {
      return DataError("shard_addresses has ", Quoted(name), ", not a name of a file in the same folder");
    }
  }
  header.shard_addresses = std::move(values.shard_addresses);
  header.index_fields = std::move(values.index_fields);
  return absl::OkStatus();
}

// A row group as raw pages list it.
struct RawGroup {
  int64_t id = 0;
  int64_t page = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

absl::Status CheckPage(const HeaderValues::Page& page, int64_t number, int64_t page_size) {
  if (page.id != number) return DataError("page ", number, " of the header has the page_id ", page.id);
  if (page.type != "RAW_DATA" && page.type != "BLOB_DATA") {
    return DataError("page ", number, " has the type ", Quoted(page.type), "; it must be RAW_DATA or BLOB_DATA");
  }
  if (page.bytes <= page_size) return absl::OkStatus();
  return DataError("page ", number, " has ", page.bytes, " bytes, and page_size is ", page_size);
}

// The groups of one raw page: each ends where the next one begins.
absl::Status AddRawGroups(const HeaderValues::Page& page, const MindHeader& header, std::vector<RawGroup>& groups) {
  const size_t before = groups.size();
  const int64_t page_begin = header.PageBegin(page.id);
  for (const HeaderValues::Group& group : page.groups) {
    if (group.id < 0 || group.offset < 0 || group.offset > page.bytes) {
      return DataError("page ", page.id, " of ", page.bytes, " bytes has a row group at byte ", group.offset);
    }
    groups.push_back({group.id, page.id, page_begin + group.offset, page_begin + page.bytes});
  }
  std::sort(groups.begin() + static_cast<std::ptrdiff_t>(before), groups.end(),
            [](const RawGroup& a, const RawGroup& b) { return a.begin < b.begin; });
  for (size_t i = before; i + 1 < groups.size(); ++i) groups[i].end = groups[i + 1].begin;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RawGroup>> RawGroupsOf(const HeaderValues& values, const MindHeader& header) {
  std::vector<RawGroup> groups;
  for (const HeaderValues::Page& page : values.pages) {
    if (page.type == "RAW_DATA") HEADRACE_RETURN_IF_ERROR(AddRawGroups(page, header, groups));
  }
  std::sort(groups.begin(), groups.end(), [](const RawGroup& a, const RawGroup& b) { return a.id < b.id; });
  const auto twice = std::adjacent_find(groups.begin(), groups.end(),
                                        [](const RawGroup& a, const RawGroup& b) { return a.id == b.id; });
  if (twice == groups.end()) return groups;
  return DataError("the row group ", twice->id, " is in page ", twice->page, " and again in page ", (twice + 1)->page);
}

// Of a blob page with rows.
absl::StatusOr<MindRowGroup> RowGroupOf(const HeaderValues::Page& page, const MindHeader& header,
                                        const std::vector<RawGroup>& raw) {
  MindRowGroup group;
  group.first = page.start_row;
  group.rows = page.end_row - page.start_row;
  group.blob_begin = header.PageBegin(page.id);
  group.blob_end = group.blob_begin + page.bytes;
  const auto found = std::lower_bound(raw.begin(), raw.end(), page.type_id,
                                      [](const RawGroup& each, int64_t id) { return each.id < id; });
  if (found == raw.end() || found->id != page.type_id) {
    return DataError("no raw page has the row group ", page.type_id, ", whose blobs are in page ", page.id);
  }
  group.raw_begin = found->begin;
  group.raw_end = found->end;
  const int64_t least = std::min(group.blob_end - group.blob_begin, group.raw_end - group.raw_begin);
  if (group.rows <= least / kLeastPagedRowBytes) return group;
  return DataError("page ", page.id, " claims ", group.rows, " rows, more than fit into its bytes or those of page ",
                   found->page);
}

// Row groups are distinct, as their rows follow one another.
absl::Status SetGroups(const HeaderValues& values, const std::vector<RawGroup>& raw, MindHeader& header) {
  for (const HeaderValues::Page& page : values.pages) {
    if (page.type != "BLOB_DATA" || page.start_row == page.end_row) continue;
    if (page.start_row < 0 || page.end_row < page.start_row) {
      return DataError("page ", page.id, " has the rows ", page.start_row, " to ", page.end_row);
    }
    HEADRACE_ASSIGN_OR_RETURN(MindRowGroup group, RowGroupOf(page, header, raw));
    header.groups.push_back(group);
  }
  std::sort(header.groups.begin(), header.groups.end(),
            [](const MindRowGroup& a, const MindRowGroup& b) { return a.first < b.first; });
  for (const MindRowGroup& group : header.groups) {
    if (group.first != header.rows) {
      return DataError("the rows of a blob page begin with ", group.first, ", where row ", header.rows,
                       " comes next: pages are missing from the header, or name the same rows");
    }
    header.rows += group.rows;
  }
  return absl::OkStatus();
}

// No raw bytes are those of two blob pages.
absl::Status CheckGroupsDiffer(const HeaderValues& values) {
  std::vector<int64_t> ids;
  for (const HeaderValues::Page& page : values.pages) {
    if (page.type == "BLOB_DATA") ids.push_back(page.type_id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return absl::OkStatus();
  return DataError("two blob pages have the page_type_id ", *twice);
}

absl::Status SetPages(const HeaderValues& values, MindHeader& header) {
  for (size_t i = 0; i < values.pages.size(); ++i) {
    HEADRACE_RETURN_IF_ERROR(CheckPage(values.pages[i], static_cast<int64_t>(i), header.page_size));
    header.page_bytes.push_back(values.pages[i].bytes);
  }
  HEADRACE_RETURN_IF_ERROR(CheckGroupsDiffer(values));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<RawGroup> raw, RawGroupsOf(values, header));
  return SetGroups(values, raw, header);
}

}  // namespace

absl::StatusOr<MindHeader> ParseMindHeader(std::string_view text) {
  HeaderValues values;
  HEADRACE_RETURN_IF_ERROR(CollectHeaderValues(text, values));
  MindHeader header;
  HEADRACE_RETURN_IF_ERROR(SetSizes(values, header));
  HEADRACE_RETURN_IF_ERROR(SetFields(values, header));
  HEADRACE_RETURN_IF_ERROR(SetBlobFields(values, header));
  HEADRACE_RETURN_IF_ERROR(SetAddresses(values, header));
  HEADRACE_RETURN_IF_ERROR(SetPages(values, header));
  return header;
}

}  // namespace headrace
