// `ArrowMapping` says which columns the fields of an Arrow schema become, and of which types. Fields of structs have
// dotted names; a struct of `bytes` and `path` is one column of files; lists are ragged, lists of one length fixed
// axes; dictionaries of texts give numbers of classes, and so do texts whose classes are given. Threads: a value; const
// methods from any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_MAPPING_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_MAPPING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "core/tensor.h"
#include "io/formats/arrow/arrow_classes.h"
#include "io/formats/arrow/arrow_format.h"
#include "io/formats/arrow/c_data.h"

namespace headrace {

enum class ArrowKind : uint8_t {
  kValues,      // numbers, bytes and texts as they are
  kFiles,       // bytes, or the path of the file that holds them
  kDictionary,  // int64 numbers of classes, from the indices of a dictionary
  kClassTexts,  // int64 numbers of classes, from their names
};

struct ArrowColumn {
  std::string name;
  ArrowKind kind = ArrowKind::kValues;
  DType dtype = DType::kUnknown;
  Shape shape;  // of a row; kAnyLength where rows differ
  std::string unit;
  // The children to go through from the root; empty: the root is the column. Of files: to their struct.
  std::vector<int> path;
  // List types from the outermost on, and the type of the values in them, or of a dictionary's indices.
  std::vector<ArrowFormat> lists;
  ArrowFormat values;
  ArrowFormat dictionary;  // of the dictionary's values
  // Of files: the children `bytes` and `path`; -1: the child has the type null, so that no row has it. Of others as
  // here: ArrowRows takes each of their rows for one that has its bytes.
  std::array<int, 2> files = {0, 0};
  ArrowFormat paths;  // of files: how paths lie in memory
  // Null: dictionaries are numbered as the first one has them, which AdoptDictionaries reads.
  std::shared_ptr<const ArrowClasses> classes;
  // What stands for a row without a value: the bytes of one element, or of the string. Of lists: "", a list without
  // elements.
  std::optional<std::string> fill;

  static constexpr int64_t kAnyLength = -1;
  bool ragged() const { return !shape.empty() && shape[0] == kAnyLength; }
  bool has_classes() const { return kind == ArrowKind::kDictionary || kind == ArrowKind::kClassTexts; }
  bool fixed_shape() const;
  // Whether all rows have one size in memory.
  bool stacks() const { return fixed_shape() && !IsVariableLength(dtype); }
};

struct ArrowChoices {
  using ByName = std::less<>;

  // In this order; the name of a struct stands for all of its fields. None: all columns.
  std::optional<std::vector<std::string>> columns = {};
  // Axes of the innermost lists, of one length, that hold arrays (arrow.fixed_shape_tensor), by column.
  std::map<std::string, Shape, ByName> shapes = {};
  // Names of classes of columns of dictionaries and of texts.
  std::map<std::string, std::vector<std::string>, ByName> classes = {};
  std::map<std::string, std::string, ByName> fills = {};
};

class ArrowMapping {
 public:
  // The schema of a batch, a struct whose fields are its columns, or of one array, which is the column `data`. kData:
  // the schema is damaged; kUnsupported: a column has a type that is none here; kGraph: the choices do not fit.
  static absl::StatusOr<ArrowMapping> Of(const ArrowSchema& schema, const ArrowChoices& choices);

  const std::vector<ArrowColumn>& columns() const { return columns_; }
  // The number of root children that a batch has; -1: the root is the column.
  int64_t root_children() const { return root_children_; }

  // Numbers dictionaries without given classes as this batch has them.
  absl::Status AdoptDictionaries(const ArrowArray& first);
  bool lacks_classes() const;
  // Axes of rows that all rows turned out to have.
  void SetShape(size_t column, Shape shape) { columns_[column].shape = std::move(shape); }

 private:
  std::vector<ArrowColumn> columns_;
  int64_t root_children_ = -1;
};

// A field of a schema as users see it.
struct ArrowField {
  std::string name;       // dotted
  std::string extension;  // of the field, or of the elements of its lists
  std::string extension_metadata;
  DType dtype = DType::kUnknown;  // of its values, also of those in lists; kUnknown: it is none of ours
  bool list = false;              // of whatever length
  bool dictionary = false;
};
// All fields that are no structs, in order, for what metadata says of them. kData as ArrowMapping::Of.
absl::StatusOr<std::vector<ArrowField>> ArrowFields(const ArrowSchema& schema);

// "column "label" ", with which messages begin.
std::string ColumnText(std::string_view name);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_MAPPING_H_
