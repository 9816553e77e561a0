#include "engine/front/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/storage_settings.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string ErrorOf(std::string_view name, RunOptionValue value) {
  return DescribeError(RunOptionsOf({{name, std::move(value)}}).status());
}

TEST(RunOptionsTest, EachNameSetsItsOption) {
  const std::vector<RunOption> given{{"seed", uint64_t{1} << 63},
                                     {"epoch", int64_t{3}},
                                     {"endless", true},
                                     {"rank", int64_t{1}},
                                     {"world", int64_t{4}},
                                     {"even", std::string("pad")},
                                     {"state", std::string("\0s", 2)},
                                     {"start", int64_t{5}},
                                     {"stop", int64_t{9}},
                                     {"optimize", false},
                                     {"disabled_passes", std::vector<std::string>{"fuse_image"}},
                                     {"pull", true},
                                     {"workers", int64_t{2}},
                                     {"window", int64_t{6}},
                                     {"group", int64_t{7}},
                                     {"memory", int64_t{1} << 40},
                                     {"cache_folder", std::string("/c")},
                                     {"profile", int64_t{8}},
                                     {"failed_rows_log", std::string("/l")}};
  const absl::StatusOr<IterateOptions> options = RunOptionsOf(given);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->seed, uint64_t{1} << 63);
  EXPECT_EQ(options->epoch, 3u);
  EXPECT_TRUE(options->endless);
  EXPECT_EQ(options->rank, 1u);
  EXPECT_EQ(options->world, 4u);
  EXPECT_EQ(options->even, "pad");
  EXPECT_EQ(options->state, std::string("\0s", 2));
  EXPECT_EQ(options->start, 5u);
  EXPECT_EQ(options->stop, 9u);
  EXPECT_FALSE(options->optimize);
  EXPECT_THAT(options->disabled_passes, ElementsAre("fuse_image"));
  EXPECT_TRUE(options->pull);
  EXPECT_EQ(options->workers, 2);
  EXPECT_EQ(options->window, 6);
  EXPECT_EQ(options->group, 7);
  EXPECT_EQ(options->memory, int64_t{1} << 40);
  EXPECT_EQ(options->cache_folder, "/c");
  EXPECT_EQ(options->profile, 8);
  EXPECT_EQ(options->failed_rows_log, "/l");
  EXPECT_FALSE(options->device.has_value());
}

TEST(RunOptionsTest, SettingsOfStoresAreNamedByTheBeginningOfUrls) {
  const absl::StatusOr<IterateOptions> options = RunOptionsOf({{"storage[s3].endpoint", std::string("http://a:1")},
                                                               {"storage[s3://b/].endpoint", std::string("http://x:1")},
                                                               {"storage[s3://b/].endpoint", std::string("http://b:1")},
                                                               {"storage[s3://b/].anonymous", int64_t{1}},
                                                               {"storage[s3://b/].timeout", int64_t{5}}});
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_NE(options->storage, nullptr);
  EXPECT_EQ(options->storage->For("s3://a/k").settings.endpoint, "http://a:1");
  const StorageSettings settings = options->storage->For("s3://b/k").settings;
  EXPECT_EQ(settings.endpoint, "http://b:1");
  EXPECT_TRUE(settings.anonymous);
  EXPECT_EQ(settings.timeout, 5);
}

TEST(RunOptionsTest, SettingsOfStoresThatDoNotFitAreRefusedWithoutTheirValues) {
  EXPECT_THAT(ErrorOf("storage[s3].endpint", std::string("secret")), HasSubstr("endpoint"));
  EXPECT_THAT(ErrorOf("storage[s3].region", int64_t{5}), HasSubstr("region"));
  EXPECT_THAT(ErrorOf("storage[s3]", std::string("x")), HasSubstr("storage[s3].endpoint"));
  EXPECT_THAT(ErrorOf("storage[].endpoint", std::string("x")), HasSubstr("storage[s3].endpoint"));
  EXPECT_THAT(ErrorOf("storage[s3].token", std::vector<std::string>{"secret"}),
              AllOf(HasSubstr("must be"), Not(HasSubstr("secret"))));
}

TEST(RunOptionsTest, NothingGivenIsTheDefault) {
  const absl::StatusOr<IterateOptions> options = RunOptionsOf({});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->seed.has_value());
  EXPECT_FALSE(options->even.has_value());
  EXPECT_FALSE(options->start.has_value());
  EXPECT_FALSE(options->stop.has_value());
  EXPECT_EQ(options->memory, IterateOptions().memory);
}

TEST(RunOptionsTest, NumbersMayStandForTruth) {
  EXPECT_TRUE(RunOptionsOf({{"pull", int64_t{1}}})->pull);
  EXPECT_FALSE(RunOptionsOf({{"pull", true}, {"pull", int64_t{0}}})->pull);
}

TEST(RunOptionsTest, OptionsOfADeviceComeInAnyOrder) {
  const absl::StatusOr<IterateOptions> options =
      RunOptionsOf({{"device_depth", int64_t{2}}, {"device_memory", int64_t{1000}}, {"device", std::string("cuda")}});
  ASSERT_TRUE(options.ok());
  ASSERT_TRUE(options->device.has_value());
  EXPECT_EQ(*options->device,
            (PlannedDevice{.name = "cuda:0", .sends_from = MemoryKind::kPageLocked, .depth = 2, .memory = 1000}));
  EXPECT_FALSE(RunOptionsOf({{"device_depth", int64_t{2}}})->device.has_value());
}

TEST(RunOptionsTest, DeviceThatIsNotInUseLocksNoPages) {
  const absl::StatusOr<IterateOptions> options = RunOptionsOf({{"page_locked_of", int64_t{0}}});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->device.has_value());
}

TEST(RunOptionsTest, MistakesNameTheOption) {
  EXPECT_THAT(ErrorOf("worker", int64_t{1}), HasSubstr("a run has no option \"worker\""));
  EXPECT_THAT(ErrorOf("worker", int64_t{1}), HasSubstr("workers"));
  EXPECT_THAT(ErrorOf("workers", std::string("2")), HasSubstr("workers must be an integer"));
  EXPECT_THAT(ErrorOf("workers", int64_t{1} << 40), HasSubstr("workers is too large: 1099511627776"));
  EXPECT_THAT(ErrorOf("workers", ~uint64_t{0}), HasSubstr("workers is too large"));
  EXPECT_THAT(ErrorOf("epoch", int64_t{-1}), HasSubstr("epoch must be 0 or more, and is -1"));
  EXPECT_THAT(ErrorOf("pull", int64_t{2}), HasSubstr("pull must be true or false"));
  EXPECT_THAT(ErrorOf("state", int64_t{1}), HasSubstr("state must be a text"));
  EXPECT_THAT(ErrorOf("disabled_passes", std::string("fuse")), HasSubstr("must be a list of texts"));
  EXPECT_THAT(ErrorOf("device", std::string("abacus")), HasSubstr("abacus"));
}

}  // namespace
}  // namespace headrace
