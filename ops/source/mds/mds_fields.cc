#include "ops/source/mds/mds_fields.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/mds/mds_rows.h"
#include "io/formats/mds/mds_table.h"
#include "ir/suggestion.h"

namespace headrace {
namespace {

// Whether a column's type is known only by a sample.
bool NeedsSample(const MdsEncoding& encoding) {
  return encoding.kind == MdsEncoding::Kind::kPixels ||
         (encoding.kind == MdsEncoding::Kind::kArray && !encoding.shaped);
}

// The type of arrays such as this one, whose sizes may differ, but for the channels of pictures.
MdsArray TypeOfArrays(const MdsEncoding& encoding, MdsArray array) {
  const size_t open = array.shape.size() - (encoding.kind == MdsEncoding::Kind::kPixels ? 1 : 0);
  for (size_t axis = 0; axis < open; ++axis) array.shape[axis] = ir::kUnknownDim;
  return array;
}

std::string FieldText(std::string_view name, DType dtype, const Shape& shape) {
  std::string text = Cat(name, " ", DTypeName(dtype), " (");
  for (size_t i = 0; i < shape.size(); ++i) {
    Append(text, i == 0 ? "" : ", ", shape[i] < 0 ? "None" : Cat(shape[i]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

struct Chosen {
  size_t column;
  MdsEncoding encoding;
};

absl::Status InColumn(const absl::Status& error, std::string_view name) {
  return Reworded(error, Cat("the column \"", name, "\": ", error.message()));
}

absl::StatusOr<std::vector<Chosen>> Choose(const MdsIndex& index, const std::vector<std::string>* columns) {
  std::vector<std::string> names;
  for (const MdsColumn& column : index.columns) names.push_back(column.name);
  std::vector<Chosen> chosen;
  for (const std::string& name : columns == nullptr ? names : *columns) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return GraphError("no column \"", name, "\"", ir::DidYouMean(name, names),
                        " (columns: ", absl::StrJoin(names, ", "), ")");
    }
    if (!IsUtf8(name)) return DataError("the name of a column is not UTF-8");
    const auto number = static_cast<size_t>(found - names.begin());
    absl::StatusOr<MdsEncoding> encoding = ParseMdsEncoding(index.columns[number].encoding);
    if (!encoding.ok()) return InColumn(encoding.status(), name);
    chosen.push_back({number, *std::move(encoding)});
  }
  return chosen;
}

// Reads the first sample that there is; nullopt: there is none.
absl::StatusOr<std::optional<RandomAccessReader::Content>> FirstSample(const FileSystem& files,
                                                                       const std::string& folder) {
  HEADRACE_ASSIGN_OR_RETURN(MdsTable table, MakeMdsTable(files, folder, false));
  if (table.size() == 0) return std::nullopt;
  const MdsRows reader(&files, std::make_shared<const MdsTable>(std::move(table)));
  RandomAccessReader::Content content;
  absl::Status wrong;
  if (reader.Read({0}, absl::MakeSpan(&content, 1), wrong) == 0) return wrong;
  return content;
}

}  // namespace

absl::Status SplitMdsSample(absl::Span<const MdsColumn> columns, std::string_view sample,
                            absl::Span<std::string_view> parts) {
  const auto varying = static_cast<size_t>(std::count_if(
      columns.begin(), columns.end(), [](const MdsColumn& column) { return column.bytes == MdsColumn::kVaries; }));
  const size_t head = varying * sizeof(uint32_t);
  size_t at = head;
  size_t size_at = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    uint64_t bytes = static_cast<uint64_t>(columns[i].bytes);
    if (columns[i].bytes == MdsColumn::kVaries) {
      uint32_t size = 0;
      if (sample.size() < head) break;
      std::memcpy(&size, sample.data() + size_at, sizeof(size));
      size_at += sizeof(size);
      bytes = size;
    }
    if (at > sample.size() || bytes > sample.size() - at) {
      return DataError("the sample is damaged: its column \"", columns[i].name, "\" claims ", bytes, " bytes, and ",
                       at > sample.size() ? 0 : sample.size() - at, " are left");
    }
    parts[i] = sample.substr(at, bytes);
    at += bytes;
  }
  if (at == sample.size() && sample.size() >= head) return absl::OkStatus();
  return DataError("the sample is damaged: it has ", sample.size(), " bytes, and its columns have ", at);
}

absl::StatusOr<std::vector<std::string>> FindMdsFields(const FileSystem& files, const std::string& folder,
                                                       const std::vector<std::string>* columns) {
  HEADRACE_ASSIGN_OR_RETURN(const MdsIndex index, ReadMdsIndex(files, folder));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<Chosen> chosen, Choose(index, columns));
  std::vector<std::string_view> parts(index.columns.size());
  std::optional<RandomAccessReader::Content> sample;
  if (std::any_of(chosen.begin(), chosen.end(), [](const Chosen& each) { return NeedsSample(each.encoding); })) {
    HEADRACE_ASSIGN_OR_RETURN(sample, FirstSample(files, folder));
    if (!sample.has_value()) return DataError("the shards have no samples, which say what their arrays are");
    HEADRACE_RETURN_IF_ERROR(SplitMdsSample(index.columns, sample->bytes, absl::MakeSpan(parts)));
  }
  std::vector<std::string> texts;
  for (const Chosen& each : chosen) {
    const std::string& name = index.columns[each.column].name;
    MdsArray array{each.encoding.dtype, each.encoding.shape};
    if (NeedsSample(each.encoding)) {
      absl::StatusOr<MdsArray> first = ParseMdsArray(each.encoding, parts[each.column]);
      if (!first.ok()) return InColumn(first.status(), name);
      array = TypeOfArrays(each.encoding, *std::move(first));
    }
    texts.push_back(FieldText(name, array.dtype, array.shape));
  }
  return texts;
}

}  // namespace headrace
