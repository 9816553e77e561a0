#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "engine/operator/operator.h"
#include "io/formats/text/line_format.h"
#include "ops/source/file_patterns.h"
#include "ops/source/split_source.h"
#include "ops/source/stacked_texts.h"

namespace headrace {
namespace {

// One column of texts: views of a block of the file, or, where the lines of several blocks or only some of a block's
// make a message, copies, one behind the other in one buffer.
class LineColumn : public RecordColumns {
 public:
  void Expect(size_t rows) override { texts_.Expect(rows); }

  // A message that has many lines of one block ends with it, as copying them all costs more than a further message.
  bool Joins(const RecordBlock& block) const override {
    return !viewed_ || viewed_.get() == block.buffer.get() || filled_ < kManyBytes;
  }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    // Between lines there are line ends, which are text: all lines are if their bytes together are.
    const bool good = AllAreUtf8(block, first, step, count);
    wrong = texts_.MakeRoom(count, BytesOf(block, first, step, count));
    if (!wrong.ok()) return 0;
    // Locals, as far as the compiler knows the bytes that are written may be the members.
    const uint8_t* const begin = texts_.begin();
    uint8_t* at = texts_.next();
    int64_t* const ends = texts_.next_ends();
    for (size_t i = 0; i < count; ++i) {
      const std::string_view line = block.content(first + i * step);
      if (!good && !IsUtf8(line)) {
        wrong = DataError("the line is not UTF-8; convert the file, or read it with Files");
        count = i;
        break;
      }
      StackedTexts::Copy(line, at);
      ends[i] = at - begin;
    }
    texts_.Advance(count);
    rows_ += static_cast<int64_t>(count);
    return count;
  }

  absl::Status Take(Block& block) override {
    block.columns.push_back(BlockColumn::Stacked(texts_.Take({std::exchange(rows_, 0)})));
    return absl::OkStatus();
  }

 private:
  static size_t BytesOf(const RecordBlock& block, size_t first, size_t step, size_t count) {
    if (step == 1) {
      const Record& last = block.records[first + count - 1];
      return last.begin + last.length - block.records[first].begin;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += line_at(i).size();
    return bytes;
  }

  StackedTexts texts_;
  int64_t rows_ = 0;
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
       return std::make_unique<SplitSource>(std::make_unique<LineFormat>(), std::move(files),
                                            std::make_unique<LineColumn>(), arguments);
     },
     .properties =
         [](const OpArguments& arguments, OperatorProperties& properties) {
           SplitReading::Of(arguments.attributes).Describe(properties);
         }});

}  // namespace
}  // namespace headrace
