#include "kernels/vision/codecs/whole/tiff_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TiffLibrary, IsLoadedOnceByManyThreads) {
  std::vector<const TiffLibrary*> found(8);
  std::vector<std::thread> threads;
  for (const TiffLibrary*& each : found) threads.emplace_back([&each] { each = TiffLibrary::Load().value(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, ::testing::Each(*TiffLibrary::Load()));
}

TEST(TiffLibrary, SaysWhatIsMissing) {
  const absl::Status missing = TiffLibrary::Open({"libnone-a.so.6", "libnone-b.so.6"}).status();
  EXPECT_EQ(KindOf(missing), ErrorKind::kUnsupported);
  EXPECT_THAT(
      std::string(missing.message()),
      AllOf(StartsWith("TIFFs are decoded by libtiff, which is not installed here: install the package libtiff6 "),
            HasSubstr("libnone-a.so.6"), HasSubstr("libnone-b.so.6")));
}

TEST(TiffLibrary, TakesTheFirstThatIsThere) {
  const absl::StatusOr<TiffLibrary> library = TiffLibrary::Open({"libnone-a.so.6", "libtiff.so.6"});
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_NE(library->ClientOpenExt, nullptr);
}

TEST(TiffLibrary, SaysThatItIsAnother) {
  const absl::Status other = TiffLibrary::Open({"libz.so.1"}).status();
  EXPECT_EQ(KindOf(other), ErrorKind::kUnsupported);
  EXPECT_THAT(std::string(other.message()), HasSubstr("the one installed here has no TIFF"));
}

}  // namespace
}  // namespace headrace
