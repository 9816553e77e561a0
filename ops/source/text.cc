#include <algorithm>
#include <cstdint>
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

// One column of texts: views of a block of the file, or, where the lines of several blocks or only some of a block's
// make a message, copies, one behind the other in one buffer.
class LineColumn : public RecordColumns {
 public:
  void Expect(size_t rows) override { expected_ = rows; }

  // A message that has many lines of one block ends with it, as copying them all costs more than a further message.
  bool Joins(const RecordBlock& block) const override {
    return !viewed_ || viewed_.get() == block.buffer.get() || filled_ < kManyBytes;
  }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    const auto line_at = [&](size_t i) { return block.content(first + i * step); };
    const std::string_view whole = Whole(line_at(0), line_at(count - 1));
    // Between lines there are line ends, which are text: all lines are if their bytes together are.
    size_t good = count;
    if (step > 1 || !IsUtf8(whole)) {
      good = 0;
      while (good < count && IsUtf8(line_at(good))) ++good;
    }
    if (lines_ == 0) viewed_ = step == 1 ? block.buffer : BufferRef();
    if (step == 1 && viewed_.get() == block.buffer.get()) {
      wrong = View(good, line_at);
    } else {
      wrong = CopyViewed();
      if (wrong.ok()) wrong = Copy(good, step == 1 ? whole.size() : BytesOf(good, line_at), line_at);
    }
    if (!wrong.ok()) return 0;
    if (good < count) wrong = DataError("the line is not UTF-8; convert the file, or read it with Files");
    return good;
  }

  absl::Status Take(Block& block) override {
    const Shape shape = {static_cast<int64_t>(lines_)};
    Tensor lines = viewed_ ? Tensor::ViewSpans(DType::kString, shape, std::exchange(viewed_, {}), std::move(table_))
                           : Tensor::ViewBytesArray(DType::kString, shape, std::exchange(bytes_, {}), std::move(table_));
    block.columns.push_back(BlockColumn::Stacked(std::move(lines)));
    table_ = {};
    last_lines_ = lines_;
    last_bytes_ = filled_;
    lines_ = filled_ = 0;
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kShort = 32;
  static_assert(kShort <= PendingRead::kSlack);
  // A long line must not make the messages behind it large.
  static constexpr size_t kMostUsual = size_t{1} << 20;
  static constexpr size_t kManyBytes = size_t{32} << 10;

  static std::string_view Whole(std::string_view first, std::string_view last) {
    return {first.data(), static_cast<size_t>(last.data() + last.size() - first.data())};
  }

  template <typename LineAt>
  static size_t BytesOf(size_t count, LineAt line_at) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += line_at(i).size();
    return bytes;
  }

  int64_t* Table() const { return reinterpret_cast<int64_t*>(table_->data()); }

  template <typename LineAt>
  absl::Status View(size_t count, LineAt line_at) {
    constexpr size_t kSpan = 2 * sizeof(int64_t);
    if (!Grow(table_, lines_ * kSpan, count * kSpan, expected_ * kSpan)) return NoMemory(count, 0);
    const char* const begin = reinterpret_cast<const char*>(viewed_->data());
    int64_t* span = Table() + 2 * lines_;
    for (size_t i = 0; i < count; ++i) {
      const std::string_view line = line_at(i);
      *span++ = line.data() - begin;
      *span++ = line.data() - begin + static_cast<int64_t>(line.size());
      filled_ += line.size();
    }
    lines_ += count;
    return absl::OkStatus();
  }

  // Turns the views into copies.
  absl::Status CopyViewed() {
    if (!viewed_) return absl::OkStatus();
    const Tensor views = Tensor::ViewSpans(DType::kString, {static_cast<int64_t>(lines_)}, std::exchange(viewed_, {}),
                                           std::exchange(table_, {}));
    const size_t bytes = std::exchange(filled_, 0);
    return Copy(std::exchange(lines_, 0), bytes, [&](size_t i) { return views.bytes_at(static_cast<int64_t>(i)); });
  }

  template <typename LineAt>
  absl::Status Copy(size_t count, size_t bytes, LineAt line_at) {
    HEADRACE_RETURN_IF_ERROR(MakeRoom(count, bytes));
    // Locals, as far as the compiler knows the bytes that are written may be the members.
    uint8_t* at = bytes_->data() + filled_;
    int64_t* end = Table() + lines_ + 1;
    for (size_t i = 0; i < count; ++i) {
      const std::string_view line = line_at(i);
      // Copies short lines with what is behind them: a copy of fixed length is a few instructions, and there is room.
      if (line.size() <= kShort) {
        std::memcpy(at, line.data(), kShort);
      } else {
        std::memcpy(at, line.data(), line.size());
      }
      at += line.size();
      *end++ = at - bytes_->data();
    }
    filled_ = static_cast<size_t>(at - bytes_->data());
    lines_ += count;
    return absl::OkStatus();
  }

  // For so many more lines of so many bytes, and at first for all that are expected, by the mean of the last message.
  absl::Status MakeRoom(size_t lines, size_t bytes) {
    const size_t usual = last_lines_ == 0 ? 0 : std::min(kMostUsual, expected_ * (last_bytes_ / last_lines_ + 1));
    const bool fits =
        Grow(bytes_, filled_, bytes + kShort, usual + usual / 16 + kShort) &&
        Grow(table_, (lines_ + 1) * sizeof(int64_t), lines * sizeof(int64_t), (expected_ + 1) * sizeof(int64_t));
    if (!fits) return NoMemory(lines, bytes);
    if (lines_ == 0) Table()[0] = 0;
    return absl::OkStatus();
  }

  absl::Status NoMemory(size_t lines, size_t bytes) const {
    return ResourceError("no memory for ", lines_ + lines, " lines of ", filled_ + bytes, " bytes");
  }

  // Makes room for `more` bytes, and at first for `usual` bytes in all. False: there is no memory.
  static bool Grow(BufferRef& buffer, size_t used, size_t more, size_t usual) {
    if (buffer && used + more <= buffer->capacity()) return true;
    const size_t least = buffer ? 2 * buffer->capacity() : usual;
    BufferRef grown = BufferPool::Current().Allocate(std::max(used + more, least));
    if (grown && buffer) std::memcpy(grown->data(), buffer->data(), used);
    buffer = std::move(grown);
    return static_cast<bool>(buffer);
  }

  BufferRef viewed_;  // the block that all lines are in; null: they are copied
  BufferRef bytes_;   // of the copied lines, and room behind them
  BufferRef table_;   // where each line of the block begins and ends; where each copied one ends, behind a 0
  size_t lines_ = 0;
  size_t filled_ = 0;    // bytes of all lines
  size_t expected_ = 0;  // lines, in all
  // Of the last message.
  size_t last_lines_ = 0;
  size_t last_bytes_ = 0;
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
