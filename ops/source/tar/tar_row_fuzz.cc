// Fuzzes samples of tar archives and their columns: whatever a sample holds, its row is of the columns' types, or an
// error of its data.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/tar/testing/tar_bytes.h"
#include "ops/source/declared_fields.h"
#include "ops/source/tar/tar_columns.h"

namespace {

using headrace::Require;
using headrace::TarField;
using headrace::TarReading;

constexpr size_t kMostBytes = 4000;

const std::vector<TarField>& Fields() {
  static const auto* const fields = new std::vector<TarField>{
      {**headrace::ParseTypedName("jpg bytes ()"), TarReading::kBytes, {"jpg"}, {}, "\"\""},
      {**headrace::ParseTypedName("cls int32 ()"), TarReading::kText, {"cls"}, {}, "0"},
      {**headrace::ParseTypedName("txt string ()"), TarReading::kText, {"txt"}, {}, "\"\""},
      {**headrace::ParseTypedName("json.a float32 (None, 2)"), TarReading::kJsonKey, {"json"}, "a", "[]"},
      {**headrace::ParseTypedName("npy float32 (None,)"), TarReading::kNpy, {"npy"}, {}, "[]"},
      {**headrace::ParseTypedName("x.npy uint8 (2, 2)"), TarReading::kNpy, {"x.npy"}, {}, "[[0, 0], [0, 0]]"},
      {**headrace::ParseTypedName("__key__ string ()"), TarReading::kKey, {}, {}, {}},
      {**headrace::ParseTypedName("__fields__ string (None,)"), TarReading::kNames, {}, {}, {}}};
  return *fields;
}

// Fields that the bytes fill, each up to a zero, so that few mutations reach a column.
std::string SampleOf(std::string_view bytes) {
  const char* const kNames[] = {"0.jpg", "0.cls", "0.txt", "0.json", "0.npy", "0.x.npy"};
  std::string sample;
  for (const char* name : kNames) {
    const size_t length = bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(std::min<size_t>(1, bytes.size()));
    if (length == 0) continue;
    sample += headrace::TarMemberBytes(name, bytes.substr(0, length));
    bytes.remove_prefix(std::min(bytes.size(), length));
  }
  return sample;
}

void MakeRow(const std::string& sample) {
  headrace::RecordBlock block;
  block.buffer = headrace::BufferPool::Current().Allocate(sample.size() + 1);
  std::memcpy(block.buffer->data(), sample.data(), sample.size());
  block.bytes = block.buffer->data();
  block.records.push_back({0, 0, static_cast<uint32_t>(sample.size())});
  const std::unique_ptr<headrace::RecordColumns> columns = headrace::MakeTarColumns(Fields());
  absl::Status wrong;
  if (columns->Add(block, 0, 1, 1, wrong) == 0) {
    Require(headrace::KindOf(wrong) == headrace::ErrorKind::kData, "damage is the sample's");
    return;
  }
  headrace::Block rows;
  Require(columns->Take(rows).ok(), "what was added is taken");
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    const headrace::Tensor value = rows.columns[i].row(0);
    Require(headrace::ir::FitsType(Fields()[i].column.type, value.dtype(), value.shape()), "values are of their types");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  // Members as they are, and fields with right headers.
  std::string members(bytes);
  for (size_t at = 0; at + headrace::kTestTarBlock <= members.size(); at += headrace::kTestTarBlock) {
    if (members.compare(at + 257, 5, "ustar") == 0) headrace::SetTarChecksum(members, at);
  }
  MakeRow(members);
  MakeRow(SampleOf(bytes));
  return 0;
}
