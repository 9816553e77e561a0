// Fuzzes the index of a TFRecord file: any text is refused, or names records that are there, or whose reading says that
// they are not.
// Input: the text of an index of a file of a few records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/tfrecord/indexed_tf_records.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_table.h"

namespace {

using headrace::OneFile;
using headrace::Require;

// A file of records, and beside it an index.
class FileAndIndex : public headrace::FileSystem {
 public:
  FileAndIndex(std::string bytes, std::string index) : file_(std::move(bytes)), index_(std::move(index)) {}

  absl::StatusOr<headrace::Tensor> Read(const std::string& path) const override { return Of(path).Read(path); }
  absl::StatusOr<std::shared_ptr<const headrace::RandomAccessFile>> Open(const std::string& path) const override {
    return Of(path).Open(path);
  }
  absl::StatusOr<headrace::FileStat> Stat(const std::string& path) const override { return Of(path).Stat(path); }
  absl::StatusOr<std::unique_ptr<headrace::FolderPages>> ListPages(const std::string& folder,
                                                                   bool sizes) const override {
    return file_.ListPages(folder, sizes);
  }

 private:
  const OneFile& Of(const std::string& path) const { return path == "a" ? file_ : index_; }

  const OneFile file_;
  const OneFile index_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> payloads = {"one", "", "three", std::string(200, 'x'), "five"};
  const FileAndIndex files(headrace::TfRecordBytes(payloads),
                           std::string(reinterpret_cast<const char*>(data), std::min<size_t>(size, 2000)));
  auto table = headrace::ReadTfRecordTable(files, {"a"}, {"a.idx"});
  if (!table.ok()) {
    Require(headrace::KindOf(table.status()) == headrace::ErrorKind::kData, "a bad index is the data's fault");
    return 0;
  }
  const uint64_t count = table->size();
  Require(count > 0 && count <= payloads.size(), "it names some of the records");
  const headrace::IndexedTfRecords reader(&files, std::make_shared<const headrace::TfRecordTable>(*std::move(table)));
  for (uint64_t item = 0; item < count; ++item) {
    headrace::RandomAccessReader::Content content;
    absl::Status wrong;
    // So few are all looked up.
    Require(reader.Read({&item, 1}, {&content, 1}, wrong) == 1, "a record that was looked up is read");
    Require(std::count(payloads.begin(), payloads.end(), content.bytes) == 1, "and is one of the file's");
  }
  return 0;
}
