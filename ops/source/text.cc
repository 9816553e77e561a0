#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "engine/operator/operator.h"
#include "io/formats/pending_read.h"
#include "io/formats/text/line_format.h"
#include "ops/source/file_patterns.h"
#include "ops/source/split_source.h"

namespace headrace {
namespace {

const LineFormat& Lines() {
  static const auto* const lines = new LineFormat;
  return *lines;
}

// One column of texts, one behind the other in one buffer.
class LineColumn : public RecordColumns {
 public:
  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    // Between lines there are line ends, which are text: all lines are if their bytes together are.
    const bool good = step == 1 && IsUtf8(Whole(block, first, count));
    if (held_.empty() || held_.back().get() != block.buffer.get()) held_.push_back(block.buffer);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view line = block.content(first + i * step);
      if (!good && !IsUtf8(line)) {
        wrong = DataError("the line is not UTF-8; convert the file, or read it with Files");
        return i;
      }
      lines_.push_back(line);
      bytes_ += line.size();
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    absl::StatusOr<Tensor> joined = Join();
    lines_.clear();
    held_.clear();
    bytes_ = 0;
    HEADRACE_RETURN_IF_ERROR(joined.status());
    block.columns.push_back(BlockColumn::Stacked(*std::move(joined)));
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kShort = 32;
  static_assert(kShort <= PendingRead::kSlack);

  static std::string_view Whole(const RecordBlock& block, size_t first, size_t count) {
    const std::string_view begin = block.content(first);
    const std::string_view end = block.content(first + count - 1);
    return {begin.data(), static_cast<size_t>(end.data() + end.size() - begin.data())};
  }

  absl::StatusOr<Tensor> Join() const {
    const size_t count = lines_.size();
    BufferRef bytes = BufferPool::Current().Allocate(bytes_ + kShort);
    BufferRef ends = BufferPool::Current().Allocate((count + 1) * sizeof(int64_t));
    if (!bytes || !ends) return ResourceError("no memory for ", count, " lines of ", bytes_, " bytes");
    auto* end = reinterpret_cast<int64_t*>(ends->data());
    *end++ = 0;
    uint8_t* at = bytes->data();
    for (const std::string_view line : lines_) {
      // Copies short lines with what is behind them: a copy of fixed length is a few instructions, and there is room.
      if (line.size() <= kShort) {
        std::memcpy(at, line.data(), kShort);
      } else {
        std::memcpy(at, line.data(), line.size());
      }
      at += line.size();
      *end++ = at - bytes->data();
    }
    return Tensor::ViewBytesArray(DType::kString, {static_cast<int64_t>(count)}, std::move(bytes), std::move(ends));
  }

  std::vector<std::string_view> lines_;
  std::vector<BufferRef> held_;  // that they are in
  size_t bytes_ = 0;
};

std::vector<ir::Attribute> Attributes() {
  std::vector<ir::Attribute> attributes = {DeclarePatterns()};
  for (ir::Attribute& attribute : SplitReading::Declare()) attributes.push_back(std::move(attribute));
  return attributes;
}

const OpRegistration registration(
    {
        .name = "Text",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of text files, one row each.",
        .doc =
            "Column: `line` (string), without its end (\\n or \\r\\n). Files come in byte order of their paths, each "
            "once, and must be UTF-8; a byte order mark is left out. An empty line is a row. A row's key is its "
            "file's number mixed with its byte offset. With `shuffle` the files are read in splits, in an order that "
            "differs in each epoch, and each rank reads its own.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = Attributes(),
        .traits = {.random = true, .file_io = true},
        .python = {.parameters =
                       "patterns: str | PathLike[str] | Sequence[str | PathLike[str]], shuffle: bool = False, "
                       "window: int = 16384, interleave: int | None = None, sharding: str | None = None, "
                       "split_bytes: int | None = None, *, seed: int | None = None, name: str | None = None",
                   .docs = {{"patterns"},
                            {"shuffle"},
                            {"window", "With `shuffle`: rows are then mixed by shuffle(window); 0: they are not."},
                            {"interleave"},
                            {"sharding"},
                            {"split_bytes"},
                            {"seed"},
                            {"name"}},
                   .body = "self._begin(\n    \"Text\",\n    {\n        \"patterns\": patterns,\n        \"shuffle\": "
                           "shuffle,\n        \"interleave\": interleave,\n        \"sharding\": sharding,\n        "
                           "\"split_bytes\": split_bytes,\n        \"seed\": seed,\n        \"name\": name,\n    "
                           "},\n)\nhosted.mix("
                           "self, shuffle, window, seed, name)"},
        .example = "hr.Text(\"corpus/*.txt\")",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
          return ir::Schema{{{"line", ir::ColumnType::Of(DType::kString, {})}}};
        },
    },
    {.stream_source = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamSource>> {
       HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*arguments.run->files, "Text", arguments.attributes));
       return std::make_unique<SplitSource>(&Lines(), std::move(files), std::make_unique<LineColumn>(), arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           SplitReading::Of(arguments.attributes).Describe(properties);
         }});

}  // namespace
}  // namespace headrace
