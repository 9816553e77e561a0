#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/type.h"
#include "ops/order/permute.h"
#include "ops/source/class_names.h"
#include "ops/source/memory/array_columns.h"
#include "ops/source/memory/name_rows.h"

namespace headrace {
namespace {

class NumpySource : public IndexedSource {
 public:
  NumpySource(std::string name, ArrayColumns arrays) : name_(std::move(name)), arrays_(std::move(arrays)) {}

  uint64_t size() const override { return arrays_.rows(); }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    const uint64_t index = wanted.position;
    absl::InlinedVector<Tensor, 2> columns;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor row, arrays_.Row(i, index));
      columns.push_back(std::move(row));
    }
    AppendRow(block, {wanted.epoch, index}, {nullptr, static_cast<int64_t>(index), -1}, columns);
    return absl::OkStatus();
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    const absl::Span<const uint64_t> indices = wanted.positions;
    const bool side_by_side = ArrayColumns::AreSideBySide(indices);
    for (size_t i = 0; i < arrays_.size(); ++i) {
      HEADRACE_ASSIGN_OR_RETURN(BlockColumn column, arrays_.Rows(i, indices, side_by_side));
      block.columns.push_back(std::move(column));
    }
    NameRows(indices, wanted.epoch, block);
    return absl::OkStatus();
  }

  void Identify(uint64_t epoch, uint64_t index, RowId& id, Provenance& provenance) const override {
    id = {epoch, index};
    provenance = {nullptr, static_cast<int64_t>(index), -1};
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({Cat("Numpy ", name_), arrays_.rows(), arrays_.Hash()});
  }

 private:
  const std::string name_;
  const ArrayColumns arrays_;
};

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeNumpy(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(ArrayColumns arrays, ArrayColumns::Bind(arguments, arguments.output.columns));
  return std::make_unique<NumpySource>(arguments.attributes.ReferenceName("arrays"), std::move(arrays));
}

absl::StatusOr<ir::Schema> InferNumpy(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  ir::Schema schema = attributes.Columns("columns");
  if (schema.columns.empty()) return GraphError("columns is empty; give at least one array");
  return schema;
}

const OpRegistration numpy_registration(
    {
        .name = "Numpy",
        .version = 2,
        .role = ir::Role::kSource,
        .summary = "Gives the rows of NumPy arrays, along their first axis.",
        .doc =
            "One column for each array: the dict's keys, or `data` for one array alone. Rows are views where they are "
            "row-major in memory. Arrays may have any strides, as sliding windows and transposed arrays have: nothing "
            "but the rows that are read is copied, and the arrays must not be written to meanwhile. All arrays have "
            "equally many rows. A row's key is its index.",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes =
            {{.name = "arrays",
              .type = ir::AttributeType::kReference,
              .doc = "The arrays, by name.",
              .referenced = ir::Referenced::kArrays},
             {.name = "columns", .type = ir::AttributeType::kColumns, .doc = "Types of the rows of each array."},
             DeclareShuffle(),
             DeclareClassNames(/*tuning=*/true),
             // Rows follow from the arrays, wherever they came from.
             {.name = "set_call",
              .type = ir::AttributeType::kString,
              .doc = "The data set whose values the arrays are, how it was asked for and how its files were, in "
                     "JSON; empty: of none.",
              .default_value = "''",
              .tuning = true,
              .hidden = true}},
        .traits = {.indexed = true},
        .python = {.parameters = "arrays: Mapping[str, Any] | Any, *, missing: Mapping[str, Any] | None = None, "
                                 "classes: str | Mapping[str, Sequence[str] | None] | None = None, "
                                 "shuffle: bool = False, seed: int | None = None, name: str | None = None",
                   .docs = {{"arrays",
                             "Columns with arrays of equal first axis, or a pandas or polars DataFrame or a pyarrow "
                             "Table; or one array, which becomes the column `data`. Rows that differ in their first "
                             "axis are declared: hr.ragged(values, splits), or a list type of pyarrow or polars. "
                             "They are shared, not copied: do not change them while a pipeline runs."},
                            {"missing",
                             "Values for what is missing, by column: {\"age\": -1} puts -1 in place of None, NaN, NA, "
                             "nulls and masked values, and [] an empty list in place of a missing one. Elsewhere a "
                             "value that is missing is an error that names its row; NaN among floats is a value."},
                            {"classes",
                             "Columns of texts that name classes; they become int32, the numbers of the names, which "
                             "are ds.classes_of(column): \"label\" numbers those that occur, sorted, and {\"label\": "
                             "[\"cat\", \"dog\"]} those given, beside which another text is an error that names its "
                             "row."},
                            {"shuffle"},
                            {"seed"},
                            {"name"}}},
        .example = "hr.Numpy({\"x\": np.arange(10)}, shuffle=True)",
        .infer = InferNumpy,
    },
    {.indexed_source = MakeNumpy});

}  // namespace
}  // namespace headrace
