#include "io/files/system_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SystemError, HasTheKindOfWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a");
  for (const auto& [error, kind] : std::vector<std::pair<int, ErrorKind>>{{EACCES, ErrorKind::kNotFound},
                                                                          {EPERM, ErrorKind::kNotFound},
                                                                          {EROFS, ErrorKind::kNotFound},
                                                                          {EISDIR, ErrorKind::kNotFound},
                                                                          {ENAMETOOLONG, ErrorKind::kNotFound},
                                                                          {ELOOP, ErrorKind::kNotFound},
                                                                          {ENXIO, ErrorKind::kUnsupported},
                                                                          {ENOSPC, ErrorKind::kResource},
                                                                          {EDQUOT, ErrorKind::kResource},
                                                                          {ENOMEM, ErrorKind::kResource},
                                                                          {EMFILE, ErrorKind::kResource},
                                                                          {ENFILE, ErrorKind::kResource},
                                                                          {EFBIG, ErrorKind::kData},
                                                                          {EIO, ErrorKind::kData}}) {
    const absl::Status status = SystemError(*LocalFileSystem(), path, "write", error);
    EXPECT_EQ(KindOf(status), kind) << error;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path)) << error;
    EXPECT_EQ(IsBeyondRow(status), kind == ErrorKind::kData) << error;
  }
}

TEST(SystemError, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  folder.Link("nowhere", "link");
  const absl::Status missing = SystemError(*LocalFileSystem(), folder / "none/a", "write", ENOENT);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("has no 'none'"));
  const absl::Status broken = SystemError(*LocalFileSystem(), folder / "link", "write", ENOENT);
  EXPECT_THAT(std::string(broken.message()), AllOf(HasSubstr("link"), HasSubstr("symbolic link to something")));
}

}  // namespace
}  // namespace headrace
