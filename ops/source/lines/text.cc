#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/text/json_format.h"
#include "io/formats/text/line_format.h"
#include "ops/source/file_patterns.h"
#include "ops/source/lines/line_reading.h"
#include "ops/source/lines/stacked_texts.h"

namespace headrace {
namespace {

// One column of texts: views of a block of the file, or, where the lines of several blocks or only some of a block's
// make a message, copies, end to end in one buffer.
class LineColumn : public RecordColumns {
 public:
  explicit LineColumn(bool skip_empty) : skip_empty_(skip_empty) {}

  void Choose(RecordBlock& block) const override {
    if (!skip_empty_) return;
    std::erase_if(block.records, [](const Record& line) { return line.length == 0; });
  }

  void Expect(size_t rows) override {
    expected_ = rows;
    copies_.Expect(rows);
  }

  // A message that has many lines of one block ends with it, as copying them all costs more than a further message.
  bool Joins(const RecordBlock& block) const override {
    return !viewed_ || viewed_.get() == block.buffer.get() || viewed_bytes_ < kManyBytes;
  }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    const auto line_at = [&](size_t i) { return block.content(first + i * step); };
    // Between lines there are line ends, which are text: all lines are if their bytes together are.
    size_t good = count;
    if (!AllAreUtf8(block, first, step, count)) {
      good = 0;
      while (good < count && IsUtf8(line_at(good))) ++good;
    }
    if (lines_ == 0) viewed_ = step == 1 ? block.buffer : BufferRef();
    if (step == 1 && viewed_.get() == block.buffer.get()) {
      wrong = View(good, line_at);
    } else {
      wrong = CopyViewed();
      if (wrong.ok()) wrong = Copy(good, line_at);
    }
    if (!wrong.ok()) return 0;
    if (good < count) wrong = DataError("the line is not UTF-8; convert the file, or read it with Files");
    return good;
  }

  absl::Status Take(Block& block) override {
    const Shape shape = {static_cast<int64_t>(lines_)};
    Tensor lines = viewed_ ? Views() : copies_.Take(shape);
    DropViews();
    lines_ = 0;
    block.columns.push_back(BlockColumn::Stacked(std::move(lines)));
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kManyBytes = size_t{32} << 10;

  template <typename LineAt>
  absl::Status View(size_t count, LineAt line_at) {
    constexpr size_t kSpan = 2 * sizeof(int64_t);
    if (!GrowBuffer(spans_, lines_ * kSpan, count * kSpan, expected_ * kSpan)) {
      return ResourceError("no memory for ", lines_ + count, " lines");
    }
    const char* const begin = reinterpret_cast<const char*>(viewed_->data());
    int64_t* span = reinterpret_cast<int64_t*>(spans_->data()) + 2 * lines_;
    for (size_t i = 0; i < count; ++i) {
      const std::string_view line = line_at(i);
      *span++ = line.data() - begin;
      *span++ = line.data() - begin + static_cast<int64_t>(line.size());
      viewed_bytes_ += line.size();
    }
    lines_ += count;
    return absl::OkStatus();
  }

  Tensor Views() const { return Tensor::ViewSpans(DType::kString, {static_cast<int64_t>(lines_)}, viewed_, spans_); }

  void DropViews() {
    viewed_ = {};
    spans_ = {};
    viewed_bytes_ = 0;
  }

  // They stay views if there is no memory.
  absl::Status CopyViewed() {
    if (!viewed_) return absl::OkStatus();
    const Tensor views = Views();
    const size_t viewed = std::exchange(lines_, 0);
    const absl::Status copied = Copy(viewed, [&](size_t i) { return views.bytes_at(static_cast<int64_t>(i)); });
    if (copied.ok()) {
      DropViews();
    } else {
      lines_ = viewed;
    }
    return copied;
  }

  template <typename LineAt>
  absl::Status Copy(size_t count, LineAt line_at) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += line_at(i).size();
    HEADRACE_RETURN_IF_ERROR(copies_.MakeRoom(count, bytes));
    // Locals, as far as the compiler knows the bytes that are written may be the members.
    const uint8_t* const begin = copies_.begin();
    uint8_t* at = copies_.next();
    int64_t* const ends = copies_.next_ends();
    for (size_t i = 0; i < count; ++i) {
      StackedTexts::Copy(line_at(i), at);
      ends[i] = at - begin;
    }
    copies_.Advance(count);
    lines_ += count;
    return absl::OkStatus();
  }

  const bool skip_empty_;
  size_t lines_ = 0;
  size_t expected_ = 0;
  BufferRef viewed_;  // the block that all lines are in; null: they are copied
  BufferRef spans_;   // where each of them begins and ends there
  size_t viewed_bytes_ = 0;
  StackedTexts copies_;
};

std::vector<ir::Attribute> AttributesOfText() {
  std::vector<ir::Attribute> attributes = DeclareLineReading();
  attributes.push_back({.name = "skip_empty",
                        .type = ir::AttributeType::kBool,
                        .doc = "Whether lines without a character are left out; one of blanks is a row.",
                        .default_value = "False"});
  attributes.push_back({.name = "json",
                        .type = ir::AttributeType::kBool,
                        .doc = "Whether a file may be an array of JSON, whose elements are then the lines.",
                        .default_value = "False",
                        .hidden = true});
  return attributes;
}

absl::StatusOr<LineRows> RowsOfText(const OpArguments& arguments, const MatchedFiles& /*files*/) {
  const bool skip_empty = arguments.attributes.Bool("skip_empty");
  LineRows rows;
  rows.json = arguments.attributes.Bool("json");
  if (rows.json) {
    rows.format = std::make_unique<JsonFormat>();
  } else {
    rows.format = std::make_unique<LineFormat>();
  }
  rows.columns = [skip_empty] { return std::make_unique<LineColumn>(skip_empty); };
  if (skip_empty) rows.rule = "without empty lines";
  if (rows.json) rows.rule += " of JSON";
  return rows;
}

const OpRegistration text_registration(
    {
        .name = "Text",
        .role = ir::Role::kSource,
        .summary = "Gives the lines of text files, one row each.",
        .doc =
            "Column: `line` (string), without its end (\\n or \\r\\n). Files come in byte order of their paths, each "
            "once, and must be UTF-8; a byte order mark is left out. An empty line is a row, unless `skip_empty` "
            "leaves it out. Files that gzip or zstd compressed are decompressed, whatever their names. A row's key is "
            "its file's number mixed with its byte offset. With `shuffle` the files are read in splits, in an order "
            "that differs in each epoch, and each rank reads its own; a compressed file is one split. With "
            "index=\"build\" rows are read by their numbers: they can be shuffled as a whole, chosen by number and "
            "sharded evenly, and a row's key is its number; a compressed file has no index.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = AttributesOfText(),
        .traits = {.random = true, .file_io = true},
        .python = LineSignature({}, {}, {{"skip_empty", "skip_empty: bool = False"}}),
        .example = "hr.Text(\"corpus/*.txt\")",
        .infer = [](const ir::Attributes& attributes, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(CheckLineReading(attributes));
          return ir::Schema{{{"line", ir::ColumnType::Of(DType::kString, {})}}};
        },
    },
    LineFactories(RowsOfText));

}  // namespace
}  // namespace headrace
