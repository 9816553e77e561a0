// Fuzzes records of examples: a record is a row if a plain reader of the messages says so, and has its values; any
// other is an error of the data. Input: records, each after its length (u8), with the types of the columns fixed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "core/utf8.h"
#include "io/formats/pending_read.h"
#include "io/formats/tfrecord/feature_finder.h"
#include "io/formats/tfrecord/feature_values.h"
#include "ops/source/tfrecord/feature_columns.h"

namespace headrace {
namespace {

constexpr size_t kMostBytes = 2000;

ir::Columns FuzzedColumns() {
  return {{"i", ir::ColumnType::Of(DType::kInt64, {})},
          {"r", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})},
          {"f", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim, 2})},
          {"b", ir::ColumnType::Of(DType::kBytes, {})},
          {"t", ir::ColumnType::Of(DType::kString, {ir::kUnknownDim})}};
}

// ---- the reference ----

struct Row {
  int64_t single = 0;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::string bytes;
  std::vector<std::string> texts;
};

// The values of a name; nullopt: they are damaged, or not of that kind.
std::optional<FeatureValues> ValuesFor(const std::map<std::string, FeatureEntry>& entries, const std::string& name,
                                       FeatureKind kind) {
  FeatureValues values;
  const auto entry = entries.find(name);
  if (entry == entries.end()) return values;
  if (values.Read(entry->second) != nullptr || values.other_kind().has_value()) return std::nullopt;
  return values.kind() == FeatureKind::kNone || values.kind() == kind ? std::optional(values) : std::nullopt;
}

bool HasSteps(const FeatureValues& values, size_t in_step) {
  return !values.is_list() || values.steps() == 0 || values.in_step() == in_step;
}

std::optional<Row> RowOf(std::string_view record) {
  std::map<std::string, FeatureEntry> entries;
  bool in_both = false;
  const absl::Status read = ForEachFeature(record, [&](std::string_view name, const FeatureEntry& entry) {
    FeatureEntry& last = entries[std::string(name)];
    const bool wanted = name == "i" || name == "r" || name == "f" || name == "b" || name == "t";
    in_both |= wanted && last.there && last.is_list != entry.is_list;
    last = entry;
  });
  if (!read.ok() || in_both) return std::nullopt;
  const auto i = ValuesFor(entries, "i", FeatureKind::kInt64s), r = ValuesFor(entries, "r", FeatureKind::kInt64s),
             f = ValuesFor(entries, "f", FeatureKind::kFloats), b = ValuesFor(entries, "b", FeatureKind::kBytes),
             t = ValuesFor(entries, "t", FeatureKind::kBytes);
  if (!i || !r || !f || !b || !t) return std::nullopt;
  const bool fits = !i->is_list() && i->count() == 1 && !b->is_list() && b->count() == 1 && HasSteps(*r, 1) &&
                    HasSteps(*t, 1) && f->count() % 2 == 0 && HasSteps(*f, 2);
  if (!fits) return std::nullopt;
  Row row;
  row.single = i->ints()[0];
  row.ints.assign(r->ints().begin(), r->ints().end());
  row.floats.resize(f->count());
  f->CopyFloats(row.floats.data());
  row.bytes = b->texts()[0];
  for (const std::string_view text : t->texts()) {
    if (!IsUtf8(text)) return std::nullopt;
    row.texts.emplace_back(text);
  }
  return row;
}

// ---- what is tested ----

template <typename T>
bool Same(const Tensor& tensor, const std::vector<T>& values) {
  return tensor.elements() == static_cast<int64_t>(values.size()) &&
         (values.empty() || std::memcmp(tensor.raw(), values.data(), values.size() * sizeof(T)) == 0);
}

void CompareRows(RecordColumns& columns, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  Block block;
  Require(columns.Take(block).ok(), "rows are taken");
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int>(i);
    Require(Same<int64_t>(block.columns[0].row(row), {rows[i].single}), "a number");
    Require(Same(block.columns[1].row(row), rows[i].ints), "numbers");
    Require(Same(block.columns[2].row(row), rows[i].floats), "floats");
    Require(block.columns[3].row(row).bytes_value() == rows[i].bytes, "bytes");
    const Tensor texts = block.columns[4].row(row);
    Require(texts.elements() == static_cast<int64_t>(rows[i].texts.size()), "texts are counted");
    for (size_t t = 0; t < rows[i].texts.size(); ++t) {
      Require(texts.bytes_at(static_cast<int64_t>(t)) == rows[i].texts[t], "texts");
    }
  }
}

RecordBlock BlockOf(std::string_view input) {
  RecordBlock block;
  block.buffer = BufferPool::Current().Allocate(input.size() + PendingRead::kSlack);
  std::memcpy(block.buffer->data(), input.data(), input.size());
  block.bytes = block.buffer->data();
  for (size_t at = 0; at < input.size();) {
    const auto length = std::min<size_t>(static_cast<uint8_t>(input[at]), input.size() - at - 1);
    block.records.push_back({static_cast<int64_t>(at), static_cast<uint32_t>(at + 1), static_cast<uint32_t>(length)});
    at += length + 1;
  }
  return block;
}

void AddRecords(std::string_view input, size_t step) {
  const ir::Columns types = FuzzedColumns();
  const auto columns =
      MakeFeatureColumns(types, std::vector<std::optional<FeatureFill>>(types.size()), PayloadCrc::kChecked);
  const RecordBlock block = BlockOf(input);
  std::vector<Row> rows;
  for (size_t at = 0; at < block.records.size();) {
    absl::Status wrong;
    const size_t added = columns->Add(block, at, step, (block.records.size() - at - 1) / step + 1, wrong);
    for (size_t i = 0; i < added; ++i) {
      const std::optional<Row> row = RowOf(block.content(at + i * step));
      Require(row.has_value(), "a record that was added is a row");
      rows.push_back(*row);
    }
    at += added * step;
    if (wrong.ok()) continue;
    Require(KindOf(wrong) == ErrorKind::kData, "what is wrong is the record's fault");
    Require(IsUtf8(ToStd(wrong.message())), "a message is text");
    Require(!RowOf(block.content(at)).has_value(), "a record that fails is not a row");
    at += step;
  }
  CompareRows(*columns, rows);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), std::min(size, headrace::kMostBytes));
  if (input.empty()) return 0;
  for (const size_t step : {1, 2}) headrace::AddRecords(input, step);
  return 0;
}
