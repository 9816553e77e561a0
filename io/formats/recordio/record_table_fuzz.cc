// Fuzzes an index beside its file: whatever the two hold, a record that is read by number is one that the file has.
// Input: the index up to the first 0 byte, and the file after it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/recordio/indexed_records.h"
#include "io/formats/recordio/record_frame.h"
#include "io/formats/recordio/record_index.h"
#include "io/formats/recordio/record_table.h"

namespace headrace {
namespace {

// "a.idx" is the index, and every other path the file.
class FileAndIndex : public FileSystem {
 public:
  FileAndIndex(std::string_view file, std::string_view index) : file_(std::string(file)), index_(std::string(index)) {}

  absl::StatusOr<Tensor> Read(const std::string& path) const override { return Of(path).Read(path); }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    return Of(path).Open(path);
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override { return Of(path).Stat(path); }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    return Of(folder).ListPages(folder, sizes);
  }

 private:
  const OneFile& Of(const std::string& path) const { return path == "a.idx" ? index_ : file_; }

  const OneFile file_;
  const OneFile index_;
};

// The record that begins at this byte of the file.
absl::StatusOr<std::string> RecordAt(std::string_view file, int64_t offset) {
  std::vector<uint8_t> rest(file.begin() + static_cast<ptrdiff_t>(offset), file.end());
  HEADRACE_ASSIGN_OR_RETURN(const CutRecord record, CutRecordAt(absl::MakeSpan(rest), offset, true));
  return std::string(reinterpret_cast<const char*>(rest.data()) + record.begin, record.length);
}

bool HasRecords(const FileSystem& files) {
  std::vector<LostBytes> lost;
  const absl::StatusOr<RecordIndex> index = ScanRecords(files, "a.rec", OnDamage::kSkip, &lost);
  Require(index.ok(), "a scan leaves out what is damaged");
  return !index->offsets.empty();
}

void CheckRecords(const FileSystem& files, std::string_view file, RecordTable table) {
  const IndexedRecords records(&files, std::make_shared<const RecordTable>(std::move(table)));
  for (uint64_t item = 0; item < records.size(); ++item) {
    RandomAccessReader::Content content;
    absl::Status wrong;
    const bool read = records.Read({item}, absl::MakeSpan(&content, 1), wrong) == 1;
    Require(read != !wrong.ok(), "a record that is not read has a reason");
    if (!read) continue;
    const absl::StatusOr<std::string> there = RecordAt(file, records.LocationOf(item).offset);
    Require(there.ok() && *there == content.bytes, "a record is the one at its location");
  }
}

void Fuzz(std::string_view input) {
  const size_t end = input.find('\0');
  if (end == std::string_view::npos) return;
  const std::string_view file = input.substr(end + 1);
  const FileAndIndex files(file, input.substr(0, end));
  for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
    absl::StatusOr<RecordTable> read = ReadIndices(files, {"a.rec"}, {"a.idx"}, on_damage, ChooseAll);
    if (read.ok()) CheckRecords(files, file, *std::move(read));
    absl::StatusOr<RecordTable> built = BuildIndices(files, {"a.rec"}, on_damage, ChooseAll);
    Require(built.ok() || on_damage == OnDamage::kFail || !HasRecords(files),
            "what is damaged is left out, unless nothing is left");
    if (built.ok()) CheckRecords(files, file, *std::move(built));
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::Fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
