// Of all sources that read files, found by their declarations: they read from the file system that the pipeline was
// given, and ahead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/error.h"
#include "core/testing/patience.h"
#include "io/files/output_stream.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

// No folder of the machine has this path.
constexpr std::string_view kFolder = "/nowhere/but/in/this/file/system";

// Shows a folder as kFolder. Used by one thread.
class MovedFolder : public FileSystem {
 public:
  explicit MovedFolder(std::string folder) : folder_(std::move(folder)) {}

  absl::StatusOr<Tensor> Read(const std::string& path) const override { return files_.Read(Real(path)); }
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    return files_.Open(Real(path));
  }
  absl::StatusOr<FileStat> Stat(const std::string& path) const override { return files_.Stat(Real(path)); }
  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override {
    return files_.ListPages(Real(folder), sizes);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    return files_.Create(Real(path), options);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    return files_.Resume(Real(path), options, bytes);
  }
  absl::Status Remove(const std::string& path) const override { return files_.Remove(Real(path)); }

 private:
  std::string Real(const std::string& path) const {
    return path.rfind(kFolder, 0) == 0 ? Cat(folder_, path.substr(kFolder.size())) : path;
  }

  const FileSystem& files_ = *LocalFileSystem();
  const std::string folder_;
};

std::vector<const ir::Declaration*> FileSources() {
  std::vector<const ir::Declaration*> sources;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->role == ir::Role::kSource && declaration->traits.file_io) sources.push_back(declaration);
  }
  return sources;
}

bool TakesObjects(const ir::Declaration& source) {
  return std::any_of(source.attributes.begin(), source.attributes.end(), [](const ir::Attribute& attribute) {
    return attribute.type == ir::AttributeType::kReference && !attribute.default_value.has_value();
  });
}

// In Python's notation: what the sample says, and for paths a pattern or the folder otherwise.
std::optional<std::string> GivenText(const ir::Declaration& source, const ir::Attribute& attribute) {
  for (const auto& [name, text] : source.sample.attributes) {
    if (name == attribute.name) return text;
  }
  if (!attribute.path || attribute.default_value.has_value()) return std::nullopt;
  return attribute.type == ir::AttributeType::kStrings ? "'class/*.jpg'" : "''";
}

// Puts a path beneath kFolder.
void Move(ir::proto::Value& value) {
  if (value.kind_case() == ir::proto::Value::kText) {
    value.set_text(JoinPath(kFolder, value.text()));
    return;
  }
  for (std::string& path : *value.mutable_texts()->mutable_values()) path = JoinPath(kFolder, path);
}

// With which the source reads what is in kFolder.
GraphBuilder::Given AttributesOf(const ir::Declaration& source) {
  GraphBuilder::Given given;
  for (ir::Attribute attribute : source.attributes) {
    const std::optional<std::string> text = GivenText(source, attribute);
    if (!text.has_value()) continue;
    attribute.default_value = text;
    ir::proto::Value value = *ir::DefaultValue(attribute);
    if (attribute.path) Move(value);
    given.emplace_back(attribute.name, std::move(value));
  }
  return given;
}

TEST(FileSources, SayThatTheyReadFiles) {
  EXPECT_GE(FileSources().size(), 3u) << "are they linked in?";
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->role != ir::Role::kSource) continue;
    for (const ir::Attribute& attribute : declaration->attributes) {
      EXPECT_TRUE(declaration->traits.file_io || !attribute.path) << declaration->name << ", " << attribute.name;
    }
  }
}

TEST(FileSources, KnowNoOtherFileSystemThanThePipelines) {
  TemporaryFolder folder;
  // Long enough for the head of any format.
  folder.Write("class/a.jpg", std::string(4096, 'a'));
  const MovedFolder moved(folder.path());
  const FaultyFileSystem files(&moved, [&](std::string_view call, const std::string&) {
    return call == "Read" || call == "ReadAt" ? DataError("as told") : absl::OkStatus();
  });
  for (const ir::Declaration* source : FileSources()) {
    // What takes user objects has a test of its own.
    if (TakesObjects(*source)) continue;
    GraphBuilder builder;
    builder.Add(source->name, {}, AttributesOf(*source));
    const absl::StatusOr<ir::proto::Graph> graph = builder.Build();
    ASSERT_TRUE(graph.ok()) << source->name << ": say what it needs in `.sample`: " << graph.status();
    PipelineOptions options = OptionsOf({});
    options.files = &files;
    const absl::StatusOr<Ran> ran = RunOnce(*graph, options);
    EXPECT_THAT(DescribeError(ran.ok() ? ran->error : ran.status()), HasSubstr("as told")) << source->name;
  }
}

// The files of the pipeline, with a callback before each read.
class ReadsAhead : public ::testing::Test {
 protected:
  ReadsAhead() {
    for (int i = 0; i < kFiles; ++i) folder_.Write(Cat(i, ".bin"), std::string(kBytes, 'x'));
  }
  absl::StatusOr<std::unique_ptr<Pipeline>> Start(PipelineOptions options, FaultyFileSystem::Before before) {
    files_ = std::make_unique<FaultyFileSystem>(LocalFileSystem(), std::move(before));
    options.files = files_.get();
    GraphBuilder builder;
    builder.Add("Files", {}, {{"patterns", ir::StringsValue({folder_ / "*.bin"})}});
    return Pipeline::Make(*builder.Build(), std::move(options));
  }
  static void TakeAll(Pipeline& pipeline) {
    ResultRow row;
    for (int i = 0; i < kFiles; ++i) ASSERT_EQ(*pipeline.Next(kTestPatience, row), Pipeline::Outcome::kRow);
  }
  static StageReport Source(Pipeline& pipeline) { return pipeline.report().stages.back(); }

  static constexpr int kFiles = 400;
  static constexpr size_t kBytes = 20'000;
  TemporaryFolder folder_;
  std::unique_ptr<FaultyFileSystem> files_;
};

TEST_F(ReadsAhead, AsManyAsTheUserAsksFor) {
  // Lets no read but the first, which is made alone, end before 64 are outstanding.
  std::mutex mutex;
  std::condition_variable all;
  int reads = 0;
  PipelineOptions options;
  options.workers = 100;
  options.window = kFiles;  // enough for tasks of several quick reads
  auto pipeline = Start(options, [&](std::string_view call, const std::string&) {
    std::unique_lock<std::mutex> lock(mutex);
    if (call != "Read" || ++reads == 1) return absl::OkStatus();
    all.notify_all();
    const bool met = all.wait_for(lock, kTestPatience, [&] { return reads > PlannedStage::kMostReads; });
    return met ? absl::OkStatus() : DataError("too few reads are outstanding");
  });
  ASSERT_TRUE(pipeline.ok());
  TakeAll(**pipeline);
  EXPECT_EQ(Source(**pipeline).widest, static_cast<uint64_t>(PlannedStage::kMostReads));
  EXPECT_TRUE(Source(**pipeline).caps.empty());
}

TEST_F(ReadsAhead, MoreWhereTheDiskIsSlow) {
  PipelineOptions options;
  options.epochs = {0, 1'000'000};
  auto pipeline = Start(options, [](std::string_view call, const std::string&) {
    if (call == "Read") std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return absl::OkStatus();
  });
  ASSERT_TRUE(pipeline.ok());
  const auto until = std::chrono::steady_clock::now() + kTestPatience;
  ResultRow row;
  while (Source(**pipeline).widest <= static_cast<uint64_t>(PlannedStage::kFirstReads)) {
    ASSERT_TRUE((*pipeline)->Next(kTestPatience, row).ok());
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  EXPECT_GT(Source(**pipeline).caps.at(0).cap, PlannedStage::kFirstReads);
}

TEST_F(ReadsAhead, NoMoreThanTheMemoryAllows) {
  PipelineOptions options;
  options.workers = PlannedStage::kMostReads;
  options.memory = 8 * kBytes;
  std::atomic<int> reads{0};
  std::atomic<int> most{0};
  auto pipeline = Start(options, [&](std::string_view call, const std::string&) {
    if (call != "Read") return absl::OkStatus();
    const int now = ++reads;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    --reads;
    return absl::OkStatus();
  });
  ASSERT_TRUE(pipeline.ok());
  TakeAll(**pipeline);
  EXPECT_LE(most, 8);
  EXPECT_LE((*pipeline)->report().peak_bytes, options.memory);
}

}  // namespace
}  // namespace headrace
