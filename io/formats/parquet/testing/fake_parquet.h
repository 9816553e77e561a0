// `FakeParquet` replaces the library that decodes Parquet files in tests: it gives row groups of whole numbers by the
// names of files, and counts what is read of them.
// Threads: files are set by the test's thread before anything reads them; everything else from any thread.
#ifndef HEADRACE_IO_FORMATS_PARQUET_TESTING_FAKE_PARQUET_H_
#define HEADRACE_IO_FORMATS_PARQUET_TESTING_FAKE_PARQUET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/formats/parquet/parquet_library.h"

namespace headrace {

// Missing: a null.
using FakeValues = std::vector<std::optional<int64_t>>;

struct FakeParquetGroup {
  std::vector<FakeValues> columns = {};      // of equal length
  std::optional<int64_t> claimed_rows = {};  // by the footer; unset: as many as there are
  bool damaged = false;                      // its second batch cannot be decoded
  bool unreadable = false;                   // it cannot be opened
};

struct FakeParquetFile {
  std::vector<std::string> names = {"value"};
  std::vector<FakeParquetGroup> groups = {};
  const char* format = "l";  // of all columns, in the schema: int64
  bool damaged = false;      // it cannot be opened
};

class FakeParquet : public ParquetLibrary {
 public:
  // Is the library of the process as long as it lives. Batches have so many rows at most.
  explicit FakeParquet(int64_t batch_rows = 4);
  ~FakeParquet() override;
  FakeParquet(const FakeParquet&) = delete;

  void Set(const std::string& path, FakeParquetFile file);
  // A file whose groups have so many rows each; the value of a row is `first` plus its number in the file.
  void SetRows(const std::string& path, const std::vector<int>& rows, int64_t first = 0);

  absl::StatusOr<std::shared_ptr<const ParquetFile>> Open(const std::string& path) const override;
  // By its path, too, once a byte of the file was read.
  absl::StatusOr<std::shared_ptr<const ParquetFile>> OpenFar(
      const std::string& path, std::shared_ptr<const RandomAccessFile> file) const override;

  int opened() const { return opened_; }
  // Those that could not be opened, too.
  int groups_read() const { return groups_read_; }
  int columns_read() const { return columns_read_; }
  // Arrays that were given and not released.
  int alive() const { return alive_; }

 private:
  class Opened;
  class Batches;

  const int64_t batch_rows_;
  std::map<std::string, std::shared_ptr<const FakeParquetFile>> files_;
  mutable std::atomic<int> opened_{0};
  mutable std::atomic<int> groups_read_{0};
  mutable std::atomic<int> columns_read_{0};
  mutable std::atomic<int> alive_{0};
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PARQUET_TESTING_FAKE_PARQUET_H_
