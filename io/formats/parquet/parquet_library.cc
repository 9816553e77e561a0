#include "io/formats/parquet/parquet_library.h"

#include <atomic>

#include "core/error.h"

namespace headrace {
namespace {

std::atomic<const ParquetLibrary*> parquet_library{nullptr};

}  // namespace

absl::StatusOr<std::shared_ptr<const ParquetFile>> ParquetLibrary::OpenFar(
    const std::string& /*path*/, std::shared_ptr<const RandomAccessFile> /*file*/) const {
  return UnsupportedError("Parquet is read from the machine's own files here: copy the file to one of its disks");
}

void SetParquetLibrary(const ParquetLibrary* library) { parquet_library.store(library); }

absl::StatusOr<const ParquetLibrary*> FindParquetLibrary() {
  const ParquetLibrary* const library = parquet_library.load();
  if (library != nullptr) return library;
  return UnsupportedError("this process has nothing that decodes Parquet files; run the pipeline from Python");
}

}  // namespace headrace
