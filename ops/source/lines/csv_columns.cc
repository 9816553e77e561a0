#include "ops/source/lines/csv_columns.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"
#include "io/formats/pending_read.h"
#include "ops/source/declared_fields.h"
#include "ops/source/lines/number_text.h"
#include "ops/source/lines/stacked_texts.h"
#include "ops/source/shown_text.h"

namespace headrace {
namespace {

static_assert(CsvField::kSlack <= PendingRead::kSlack && StackedTexts::kShort <= PendingRead::kSlack);

std::string_view WithoutSpaces(std::string_view text) {
  const auto is_space = [](char byte) { return byte == ' ' || byte == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// What programs write where a table has no number.
bool StandsForNothing(std::string_view text) {
  return text.empty() || text == "NA" || text == "NaN" || text == "N/A" || text == "null";
}

// A type of Python that has the text as a value.
std::string_view TypeThatReads(std::string_view text) {
  double number = 0;
  return ReadNumber(text, number) ? "\"float64\"" : "str";
}

class CsvColumns : public RecordColumns {
 public:
  CsvColumns(ir::Columns columns, CsvLines lines);

  void Expect(size_t rows) override;
  void Choose(RecordBlock& block) const override;
  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override;
  absl::Status Take(Block& block) override;

 private:
  // Where the next field of a line begins.
  struct Cursor {
    const char* at;
    const char* end;
    bool ended = false;  // the field before was the last one

    // The field ends at `behind`, with a delimiter or the line.
    void Pass(const char* behind) {
      ended = behind == end;
      at = behind + (ended ? 0 : 1);
    }
  };
  // A run, and the column that it fills.
  struct Step {
    size_t fields = 1;
    size_t first = 0;  // the number of its first field
    int column = CsvRun::kNoColumn;
    // Takes its fields from a line; false: they are not what they should be, as wrong_ says.
    bool (CsvColumns::*take)(Step& step, Cursor& cursor) = nullptr;
    size_t row_bytes = 0;  // of numbers
    BufferRef numbers;
    StackedTexts texts;
    std::optional<std::string> missing;
    std::shared_ptr<const ClassTable> classes;                        // null: the column has none
    alignas(uint64_t) uint8_t missing_number[sizeof(uint64_t)] = {};  // begins with the number that it is
  };

  absl::Status MakeRoom(size_t rows);
  bool TakeRow(std::string_view line);
  template <typename T>
  bool TakeNumbers(Step& step, Cursor& cursor);
  template <typename T>
  const char* TakeNumberInAnyForm(const Step& step, size_t i, const Cursor& cursor, T& value);
  bool TakeTexts(Step& step, Cursor& cursor);
  bool TakeClasses(Step& step, Cursor& cursor);
  bool TakeNothing(Step& step, Cursor& cursor);

  bool Fail(std::string_view what);
  bool FailField(const Step& step, size_t i, std::string_view what);
  bool FailNumber(const Step& step, size_t i, std::string_view text);
  bool FailCount();

  const ir::Columns columns_;
  const CsvDialect dialect_;
  size_t fields_ = 0;  // of a line
  std::vector<Step> steps_;
  size_t rows_ = 0;       // of the message
  size_t room_ = 0;       // for rows of numbers
  size_t expected_ = 0;   // rows, in all
  size_t last_rows_ = 0;  // of the last message
  bool has_texts_ = false;
  bool all_utf8_ = false;  // the lines that are added are
  std::string_view line_;  // that is taken
  absl::Status wrong_;
};

CsvColumns::CsvColumns(ir::Columns columns, CsvLines lines)
    : columns_(std::move(columns)), dialect_(lines.dialect), steps_(lines.runs.size()) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    step.fields = lines.runs[i].fields;
    step.first = std::exchange(fields_, fields_ + step.fields);
    step.column = lines.runs[i].column;
    step.take = &CsvColumns::TakeNothing;
    if (step.column == CsvRun::kNoColumn) continue;
    const DType dtype = columns_[static_cast<size_t>(step.column)].type.dtype;
    step.missing = std::move(lines.missing[static_cast<size_t>(step.column)]);
    step.row_bytes = ItemSize(dtype) * step.fields;
    if (!lines.classes.empty()) step.classes = lines.classes[static_cast<size_t>(step.column)];
    if (step.classes != nullptr) {
      step.take = &CsvColumns::TakeClasses;
      continue;
    }
    if (dtype == DType::kString) {
      step.take = &CsvColumns::TakeTexts;
      has_texts_ = true;
      continue;
    }
    WithFieldType(dtype, [&](auto zero) {
      step.take = &CsvColumns::TakeNumbers<decltype(zero)>;
      return true;
    });
    if (step.missing.has_value()) ReadNumber(*step.missing, dtype, step.missing_number);
  }
}

void CsvColumns::Expect(size_t rows) {
  expected_ = rows;
  for (Step& step : steps_) step.texts.Expect(rows * step.fields);
}

// A blank line is a row only where that is a row of one empty field.
void CsvColumns::Choose(RecordBlock& block) const {
  if (fields_ == 1) return;
  std::erase_if(block.records, [](const Record& line) { return line.length == 0; });
}

size_t CsvColumns::Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) {
  // Between lines there are line ends, which are text: all fields are if the bytes of all lines together are.
  all_utf8_ = has_texts_ && AllAreUtf8(block, first, step, count);
  wrong = MakeRoom(count);
  if (!wrong.ok()) return 0;
  for (size_t i = 0; i < count; ++i) {
    if (!TakeRow(block.content(first + i * step))) {
      wrong = std::exchange(wrong_, absl::OkStatus());
      return i;
    }
  }
  return count;
}

// Makes room for numbers of so many more rows, at first for as many as the last message had.
absl::Status CsvColumns::MakeRoom(size_t rows) {
  if (rows_ + rows <= room_) return absl::OkStatus();
  const size_t usual = room_ > 0 ? 2 * room_ : std::min(expected_, last_rows_);
  const size_t room = std::max(rows_ + rows, usual);
  for (Step& step : steps_) {
    if (step.row_bytes == 0) continue;
    BufferRef grown = BufferPool::Current().Allocate(room * step.row_bytes);
    if (!grown) return ResourceError("no memory for ", room, " rows of ", step.row_bytes, " bytes");
    if (rows_ > 0) std::memcpy(grown->data(), step.numbers->data(), rows_ * step.row_bytes);
    step.numbers = std::move(grown);
  }
  room_ = room;
  return absl::OkStatus();
}

bool CsvColumns::TakeRow(std::string_view line) {
  line_ = line;
  Cursor cursor{line.data(), line.data() + line.size()};
  for (Step& step : steps_) {
    if (!(this->*step.take)(step, cursor)) return false;
  }
  if (!cursor.ended) return FailCount();
  ++rows_;
  if (!has_texts_) return true;
  for (Step& step : steps_) {
    if (step.take == &CsvColumns::TakeTexts) step.texts.Advance(step.fields);
  }
  return true;
}

template <typename T>
bool CsvColumns::TakeNumbers(Step& step, Cursor& cursor) {
  T* const row = reinterpret_cast<T*>(step.numbers->data()) + rows_ * step.fields;
  const char delimiter = dialect_.delimiter;
  for (size_t i = 0; i < step.fields; ++i) {
    if (cursor.ended) return FailCount();
    const char* behind = ReadPlainNumber(cursor.at, cursor.end, row[i]);
    if (behind == nullptr || (behind != cursor.end && *behind != delimiter)) {
      behind = TakeNumberInAnyForm(step, i, cursor, row[i]);
      if (behind == nullptr) return false;
    }
    cursor.Pass(behind);
  }
  return true;
}

// Returns where the field ends; null: it is no number.
template <typename T>
const char* CsvColumns::TakeNumberInAnyForm(const Step& step, size_t i, const Cursor& cursor, T& value) {
  CsvField field;
  const char* at = cursor.at;
  const CsvFault fault = CutField(dialect_, at, cursor.end, field);
  if (fault != CsvFault::kNone) {
    Fail(FaultText(dialect_, fault, step.first + i + 1));
    return nullptr;
  }
  const std::string_view text = WithoutSpaces(field.text);
  if (step.missing.has_value() && StandsForNothing(text)) {
    std::memcpy(&value, step.missing_number, sizeof(value));
    return at;
  }
  if (ReadNumber(text, value)) return at;
  FailNumber(step, i, text);
  return nullptr;
}

bool CsvColumns::TakeTexts(Step& step, Cursor& cursor) {
  const size_t most =
      static_cast<size_t>(cursor.end - cursor.at) + (step.missing.has_value() ? step.fields * step.missing->size() : 0);
  wrong_ = step.texts.MakeRoom(step.fields, most);
  if (!wrong_.ok()) return false;
  const uint8_t* const begin = step.texts.begin();
  uint8_t* target = step.texts.next();
  int64_t* const ends = step.texts.next_ends();
  for (size_t i = 0; i < step.fields; ++i) {
    if (cursor.ended) return FailCount();
    CsvField field;
    const char* at = cursor.at;
    const CsvFault fault = CutField(dialect_, at, cursor.end, field);
    if (fault != CsvFault::kNone) return Fail(FaultText(dialect_, fault, step.first + i + 1));
    if (fields_ == 1 && HasBareReturn(field)) return Fail(FaultText(dialect_, CsvFault::kReturn, 1));
    if (!all_utf8_ && !IsUtf8(field.text)) return FailField(step, i, "is not UTF-8; convert the file");
    if (field.doubled) {
      target = CopySingleQuotes(field, *dialect_.quote, target);
    } else if (field.text.empty() && step.missing.has_value()) {
      std::memcpy(target, step.missing->data(), step.missing->size());
      target += step.missing->size();
    } else {
      StackedTexts::Copy(field.text, target);
    }
    ends[i] = target - begin;
    cursor.Pass(at);
  }
  return true;
}

bool CsvColumns::TakeClasses(Step& step, Cursor& cursor) {
  auto* const row = reinterpret_cast<int32_t*>(step.numbers->data()) + rows_ * step.fields;
  for (size_t i = 0; i < step.fields; ++i) {
    if (cursor.ended) return FailCount();
    CsvField field;
    const char* at = cursor.at;
    const CsvFault fault = CutField(dialect_, at, cursor.end, field);
    if (fault != CsvFault::kNone) return Fail(FaultText(dialect_, fault, step.first + i + 1));
    std::string single;
    std::string_view name = field.text;
    if (field.doubled) {
      single.resize(field.text.size() + CsvField::kSlack);
      auto* const begin = reinterpret_cast<uint8_t*>(single.data());
      name = {single.data(), static_cast<size_t>(CopySingleQuotes(field, *dialect_.quote, begin) - begin)};
    } else if (name.empty() && step.missing.has_value()) {
      name = *step.missing;
    }
    const absl::StatusOr<int32_t> number = step.classes->NumberOf(name);
    if (!number.ok()) return FailField(step, i, ToStd(number.status().message()));
    row[i] = *number;
    cursor.Pass(at);
  }
  return true;
}

bool CsvColumns::TakeNothing(Step& step, Cursor& cursor) {
  for (size_t i = 0; i < step.fields; ++i) {
    if (cursor.ended) return FailCount();
    CsvField field;
    const char* at = cursor.at;
    const CsvFault fault = CutField(dialect_, at, cursor.end, field);
    if (fault != CsvFault::kNone) return Fail(FaultText(dialect_, fault, step.first + i + 1));
    cursor.Pass(at);
  }
  return true;
}

absl::Status CsvColumns::Take(Block& block) {
  std::vector<BlockColumn> made(columns_.size());
  for (Step& step : steps_) {
    if (step.column == CsvRun::kNoColumn) continue;
    const ir::ColumnType& type = columns_[static_cast<size_t>(step.column)].type;
    Shape shape = *type.shape;
    shape.insert(shape.begin(), static_cast<int64_t>(rows_));
    Tensor stack;
    if (type.dtype == DType::kString) {
      stack = step.texts.Take(shape);
    } else {
      BufferRef numbers = std::exchange(step.numbers, {});
      const void* const data = numbers->data();
      stack = Tensor::View(type.dtype, shape, std::move(numbers), data);
    }
    made[static_cast<size_t>(step.column)] = BlockColumn::Stacked(std::move(stack));
  }
  for (BlockColumn& column : made) block.columns.push_back(std::move(column));
  last_rows_ = std::exchange(rows_, 0);
  room_ = 0;
  return absl::OkStatus();
}

bool CsvColumns::Fail(std::string_view what) {
  wrong_ = DataError(what, ": ", ShownText(line_));
  return false;
}

bool CsvColumns::FailField(const Step& step, size_t i, std::string_view what) {
  const std::string& name = columns_[static_cast<size_t>(step.column)].name;
  return Fail(Cat("field ", step.first + i + 1, ", of \"", name, "\", ", what));
}

bool CsvColumns::FailNumber(const Step& step, size_t i, std::string_view text) {
  const ir::Column& column = columns_[static_cast<size_t>(step.column)];
  if (StandsForNothing(text)) {
    const std::string found = text.empty() ? "empty" : ShownText(text);
    return FailField(step, i,
                     Cat("is ", found, "; say what that stands for, such as missing={\"", column.name, "\": 0}"));
  }
  return FailField(step, i,
                   Cat("is ", ShownText(text), "; the column's type is ", ir::TypeName(column.type),
                       ", stated by types={…} or inferred from the first rows; if the value is right, state types={\"",
                       column.name, "\": ", TypeThatReads(text), ", …}"));
}

bool CsvColumns::FailCount() {
  size_t found = 0;
  Cursor cursor{line_.data(), line_.data() + line_.size()};
  while (!cursor.ended) {
    CsvField field;
    const char* at = cursor.at;
    const CsvFault fault = CutField(dialect_, at, cursor.end, field);
    if (fault != CsvFault::kNone) return Fail(FaultText(dialect_, fault, found + 1));
    ++found;
    cursor.Pass(at);
  }
  const bool returns = line_.find('\r') != std::string_view::npos;
  return Fail(Cat("the line has ", found, found == 1 ? " field" : " fields", ", where ", fields_,
                  fields_ == 1 ? " is expected" : " are expected",
                  returns ? "; it has carriage returns in it: lines end with \\n or \\r\\n" : ""));
}

}  // namespace

std::unique_ptr<RecordColumns> MakeCsvColumns(ir::Columns columns, CsvLines lines) {
  return std::make_unique<CsvColumns>(std::move(columns), std::move(lines));
}

}  // namespace headrace
