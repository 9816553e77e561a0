// `ArrowRows` gives the rows of one column of an Arrow array: as views of the producer's memory where its layout
// allows, else as copies. All that the C structs say is checked before it is used, as far as they tell: they do not say
// how long their buffers are. Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_ROWS_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "core/tensor.h"
#include "io/formats/arrow/arrow_array.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_strings.h"

namespace headrace {

// Our numbers of the classes in a dictionary.
struct DictionaryNumbers {
  std::vector<std::string> names;
  std::vector<int64_t> numbers;  // -1: there is no such class
  // Of the dictionary, which several batches may share.
  std::vector<const void*> buffers;
  int64_t offset = 0;
};

// Row i is values[splits[i]:splits[i + 1]].
struct JoinedLists {
  Tensor values;
  Tensor splits;
};

class ArrowRows {
 public:
  // `column` outlives it, and has its classes. Messages count rows from `first_row`. `before`: of the batch before, or
  // null. kData: the array is damaged, or has another type than the column.
  static absl::StatusOr<ArrowRows> Of(const ArrowColumn& column, const HeldArrow& array, uint64_t first_row,
                                      const ArrowRows* before);

  // kData, naming row and column: the row has no value and no fill, holds a missing value, an unknown class, a text
  // that is not UTF-8, or lists of unequal lengths.
  absl::StatusOr<Tensor> Row(int64_t row) const;
  // Whether rows that lie side by side can be one tensor: those of a column that stacks, and byte strings that are all
  // in one buffer.
  bool slices() const;
  // Such rows, at least one, along a first axis.
  absl::StatusOr<Tensor> Slice(int64_t begin, int64_t count) const;
  // Whether rows that lie side by side can be one tensor of values and their splits: those of a column of lists of any
  // length, none of which lacks a value.
  bool joins() const;
  // The lists of such rows, at least one, end to end. On an error, Row says of which row it is.
  absl::StatusOr<JoinedLists> Join(int64_t begin, int64_t count) const;
  // Whether rows of a column that stacks are in memory as tensors have them, and none of them fails.
  bool copies() const { return copies_; }
  // Copies such rows, which lie side by side, and returns where the next one goes.
  uint8_t* CopyRows(int64_t begin, int64_t count, uint8_t* target) const {
    const auto bytes = static_cast<size_t>(count * copied_bytes_);
    std::memcpy(target, ElementsAt(begin), bytes);
    return target + bytes;
  }
  // The same rows along a first axis, as a view.
  Tensor ViewRows(int64_t begin, int64_t count) const;
  // Where the elements of such a row are.
  const uint8_t* ElementsAt(int64_t row) const { return copied_from_ + row * copied_bytes_; }
  // Whether rows of a column of lists of any length are in memory as tensors have them, and none of them fails.
  bool lends_lists() const { return lends_lists_; }
  struct List {
    const uint8_t* values = nullptr;
    int64_t length = 0;  // of the ragged axis
  };
  // The elements of such a row.
  List ListAt(int64_t row) const;
  size_t BytesOfList(int64_t row) const;
  // Whether all rows are byte strings of shape () that are in memory.
  bool lends_texts() const { return lends_texts_; }
  // Such a row; an error: Row fails.
  absl::StatusOr<std::string_view> TextAt(int64_t row) const { return strings_.At(base_ + row); }
  const ArrowColumn& column() const { return *column_; }
  // Writes the row's elements, of a column that stacks.
  absl::Status CopyRow(int64_t row, uint8_t* target) const;
  // Of a column of files: the path of the file that holds the bytes; none: Row gives them.
  absl::StatusOr<std::optional<std::string_view>> PathOf(int64_t row) const;

  // The first row without a value that no fill stands for, or with a missing value in it.
  absl::Status CheckMissing() const;
  // Sets axes of `shape` to the lengths that all lists of the batch have there; kAnyLength where they differ. An axis
  // of kNotSeen has been compared with no list yet. The first axis stays.
  void CompareLengths(Shape& shape) const;
  static constexpr int64_t kNotSeen = -2;
  // Covers values; of many, samples of them.
  uint64_t Hash(uint64_t hash) const;

 private:
  struct Level {
    ArrowLayout layout = ArrowLayout::kList32;
    const void* offsets = nullptr;
    int64_t offset = 0;  // of the array of lists
    int64_t width = 0;
    ArrowBits valid;  // of the elements in the lists
  };
  // Elements, counted from the offset of their array.
  struct Range {
    int64_t begin = 0;
    int64_t count = 0;
  };

  void AddValidity(const ArrowArray& array);
  absl::Status Enter(const ArrowArray* array);
  absl::Status EnterLists(const ArrowArray* array);
  absl::Status EnterValues(const ArrowArray* array, const Range& range);
  absl::Status EnterFiles(const ArrowArray* array);
  absl::Status EnterDictionary(const ArrowArray* array, const ArrowRows* before);
  Range Below(const Level& level, const Range& range) const;

  bool IsMissing(int64_t row) const;
  // Whether the struct of a row, or of every row, has that child. Rows of columns of other kinds have both: see
  // ArrowColumn::files.
  bool HasBytes(int64_t row) const { return column_->files[0] >= 0 && bytes_valid_.Has(base_ + row); }
  bool HasPath(int64_t row) const { return column_->files[1] >= 0 && paths_valid_.Has(base_ + row); }
  bool all_have_bytes() const { return column_->files[0] >= 0 && bytes_valid_.all(); }
  bool all_have_paths() const { return column_->files[1] >= 0 && paths_valid_.all(); }
  absl::Status CheckPresent(int64_t row) const;
  absl::StatusOr<Range> ElementsOf(int64_t row, Shape& shape) const;
  absl::Status CheckElements(int64_t row, const Level& level, const Range& range) const;
  absl::StatusOr<int64_t> LengthOf(int64_t row, size_t level, const Range& lists) const;
  absl::Status CopyElements(int64_t row, const Range& range, uint8_t* target) const;
  absl::StatusOr<int64_t> ClassOf(int64_t row, int64_t element) const;
  int64_t IndexAt(int64_t element) const;
  absl::StatusOr<std::string_view> StringAt(int64_t row, int64_t element) const;
  absl::StatusOr<Tensor> StringRow(int64_t row) const;
  absl::StatusOr<Tensor> StringsOf(int64_t row, const Range& range, const Shape& shape) const;
  absl::StatusOr<Tensor> StringSlice(int64_t begin, int64_t count) const;
  // A copy of strings that lie end to end, one at least, `shape` of them.
  absl::StatusOr<Tensor> CopyStrings(std::string_view bytes, int64_t begin, const Shape& shape) const;
  absl::StatusOr<Tensor> SplitsOf(int64_t begin, int64_t count) const;
  absl::StatusOr<Tensor> ValuesOf(int64_t row, const Range& range, const Shape& shape) const;
  absl::StatusOr<Tensor> FilledRow() const;
  void CopyFill(uint8_t* target) const;
  bool KeepsLayout(int64_t first) const;
  bool CanCopy() const;
  bool CanLendLists() const;
  bool CanLendTexts() const;
  const uint8_t* ValueAt(int64_t element) const;
  template <typename... Parts>
  absl::Status RowError(int64_t row, const Parts&... parts) const;

  const ArrowColumn* column_ = nullptr;
  HeldArrow array_;
  uint64_t first_row_ = 0;
  int64_t rows_ = 0;
  // Of the rows, and of the structs that they lie in, where a value is missing.
  absl::InlinedVector<ArrowBits, 2> valid_;
  int64_t base_ = 0;  // the element of row 0 in the outermost array that is no struct
  absl::InlinedVector<Level, 1> levels_;
  bool elements_missing_ = false;
  const uint8_t* numbers_ = nullptr;
  int64_t numbers_offset_ = 0;
  ArrowStrings strings_;
  ArrowBits bytes_valid_;  // of files, as the next
  ArrowBits paths_valid_;
  ArrowStrings paths_;
  std::shared_ptr<const DictionaryNumbers> dictionary_;
  BufferRef keep_;  // the producer's memory; it counts no bytes
  bool copies_ = false;
  const uint8_t* copied_from_ = nullptr;  // where row 0 is, if rows can be copied
  int64_t copied_bytes_ = 0;              // of one of them
  bool lends_lists_ = false;
  bool lends_texts_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_ROWS_H_
