#include "benchmarks/jpeg_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "core/error.h"

namespace headrace {
namespace {

bool IsJpegName(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return tolower(c); });
  return extension == ".jpg" || extension == ".jpeg";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> JpegFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  const auto options = std::filesystem::directory_options::follow_directory_symlink;
  std::filesystem::recursive_directory_iterator entry(folder, options, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file() && IsJpegName(entry->path())) files.push_back(entry->path().string());
  }
  if (error) return NotFoundError(folder, ": ", error.message());
  if (files.empty()) return NotFoundError(folder, " holds no .jpg or .jpeg files");
  std::sort(files.begin(), files.end());
  return files;
}

bool ReadFile(const std::string& path, std::vector<char>& bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat stat;
  bool whole = fstat(descriptor, &stat) == 0;
  size_t done = 0;
  if (whole) bytes.resize(stat.st_size);
  while (whole && done < bytes.size()) {
    const ssize_t got = read(descriptor, bytes.data() + done, bytes.size() - done);
    whole = got > 0;
    done += whole ? got : 0;
  }
  close(descriptor);
  return whole;
}

}  // namespace headrace
