// `DeclareClassNames` declares the names of classes that a source gives numbers in place of: its hidden attribute
// `class_names` holds, for each such column, the names in the order of their numbers, as a list of JSON. Where files
// have other texts for them, each is a list of the text and the name: [["1", "cat"], ["2", "dog"]]. `ClassTable` finds
// the number of a name. Threads: pure functions; a table is immutable.
#ifndef HEADRACE_OPS_SOURCE_CLASS_NAMES_H_
#define HEADRACE_OPS_SOURCE_CLASS_NAMES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dtype.h"
#include "core/seeded_hash.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

// What the parameter `classes` of sources of Arrow's columns means.
inline constexpr char kArrowClassesDoc[] =
    "Names of classes, in the order of their numbers, for columns of texts and dictionaries, which become these "
    "numbers: of the column `label` or the only such one, or by column; there None stands for the texts that occur, of "
    "a table of Arrow alone. None: those of the metadata, or of the first dictionary.";

class ClassTable {
 public:
  static constexpr DType kNumber = DType::kInt32;

  // kGraph: `json` is not a list of different texts, with or without their names, or is empty.
  static absl::StatusOr<std::shared_ptr<const ClassTable>> Parse(std::string_view json);

  // kData: the text stands for no class; the message continues a sentence, and says which text is near.
  absl::StatusOr<int32_t> NumberOf(std::string_view text) const;
  // Of texts of any shape.
  absl::StatusOr<Tensor> NumbersOf(const Tensor& texts) const;

 private:
  explicit ClassTable(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  absl::Status Unknown(std::string_view text) const;

  const std::vector<std::string> texts_;                               // that stand for the classes
  std::unordered_map<std::string_view, int32_t, SeededHash> numbers_;  // views of texts_
};

// One a column; null: the column has no classes.
using ClassTables = std::vector<std::shared_ptr<const ClassTable>>;

// Rows follow from the arrays, where a source of arrays has it: `tuning`.
ir::Attribute DeclareClassNames(bool tuning = false);
// Of these columns. kGraph: the attribute names a column that is not among `fields`, or not of texts, or its names are
// wrong.
absl::StatusOr<ClassTables> ClassTablesOf(const ir::Attributes& attributes, const ir::Schema& fields,
                                          const ir::Columns& columns);
// The columns, where those that have classes hold their numbers.
ir::Columns WithClassNumbers(const ir::Columns& columns, const ClassTables& classes);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_CLASS_NAMES_H_
