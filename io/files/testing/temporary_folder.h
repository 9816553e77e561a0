// `TemporaryFolder` is a folder that is deleted after the test, with ways to fill it.
// Threads: one.
#ifndef HEADRACE_IO_FILES_TESTING_TEMPORARY_FOLDER_H_
#define HEADRACE_IO_FILES_TESTING_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace headrace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headrace_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Also makes the folders above.
  std::string Write(std::string_view name, std::string_view bytes = "x") const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  void MakeFolder(std::string_view name) const { std::filesystem::create_directories(*this / name); }
  void Link(std::string_view target, std::string_view name) const {
    std::filesystem::create_symlink(target, *this / name);
  }

 private:
  std::string path_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_TESTING_TEMPORARY_FOLDER_H_
