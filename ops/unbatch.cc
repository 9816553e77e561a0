#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {
namespace {

// The rows of one batch travel as one part: views of the batch's own columns.
class UnbatchOperator : public RowOperator {
 public:
  explicit UnbatchOperator(std::vector<std::string> names) : names_(std::move(names)) {}

  void Apply(Block& /*block*/) const override {}

  void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const override {
    for (int row = 0; row < message->rows(); ++row) {
      absl::StatusOr<Message> part = Unbatch(*message, row);
      if (!part.ok()) {
        message->Fail(row, std::move(part).status());
        message->DropRows();
        message->columns.clear();
        parts.push_back(std::move(message));
        return;
      }
      (*part)->checkpoint = before;
      (*part)->checkpoint.back() += static_cast<uint64_t>(row) + 1;
      parts.push_back(*std::move(part));
    }
    const bool whole = message->end == End::kNone && message->rows() > 0;
    if (whole && message->continues) return;
    message->checkpoint.push_back(0);
    if (whole) {
      parts.back()->checkpoint = std::move(message->checkpoint);
      return;
    }
    message->DropRows();
    message->columns.clear();
    parts.push_back(std::move(message));
  }

 private:
  absl::StatusOr<Message> Unbatch(Block& block, int row) const {
    auto part = std::make_unique<Block>();
    part->epoch = block.epoch;
    int64_t rows = -1;
    size_t first = 0;
    for (size_t i = 0; i < block.columns.size(); ++i) {
      Tensor tensor = block.columns[i].row(row);
      HEADRACE_RETURN_IF_ERROR(CheckLength(i, tensor, first, rows));
      if (rows < 0) {
        rows = tensor.dim(0);
        first = i;
      }
      part->columns.push_back(BlockColumn::Stacked(std::move(tensor)));
    }
    const RowId& id = block.ids[row];
    for (int64_t child = 0; child < rows; ++child) {
      part->ids.push_back(id);
      part->ids.back().key = MixKey(id.key, static_cast<uint64_t>(child));
      part->provenances.Append(block.provenances, static_cast<size_t>(row));
    }
    return part;
  }

  absl::Status CheckLength(size_t column, const Tensor& tensor, size_t first, int64_t rows) const {
    if (tensor.rank() == 0) {
      return DataError("column \"", names_[column], "\" is ", tensor.TypeName(), ": it has no first axis to unbatch");
    }
    if (rows < 0 || tensor.dim(0) == rows) return absl::OkStatus();
    return DataError("columns \"", names_[first], "\" and \"", names_[column], "\" have ", rows, " and ", tensor.dim(0),
                     " rows: unbatch needs first axes of equal length");
  }

  const std::vector<std::string> names_;
};

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& /*attributes*/, absl::Span<const ir::Schema> inputs) {
  ir::Schema schema = inputs[0];
  int64_t rows = ir::kUnknownDim;
  std::string first;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const ir::Column& column = schema.columns[i];
    if (!column.type.shape.has_value()) continue;
    Shape& shape = *schema.columns.type(i).shape;
    if (shape.empty()) {
      return GraphError("column \"", column.name, "\" is ", ir::TypeName(column.type),
                        ": it has no first axis to unbatch; drop it with project first");
    }
    const int64_t length = shape[0];
    if (length != ir::kUnknownDim && rows != ir::kUnknownDim && length != rows) {
      return GraphError("columns \"", first, "\" and \"", column.name, "\" have ", rows, " and ", length,
                        " rows: unbatch needs first axes of equal length");
    }
    if (length != ir::kUnknownDim && rows == ir::kUnknownDim) {
      rows = length;
      first = column.name;
    }
    shape.erase(shape.begin());
  }
  return schema;
}

const OpRegistration registration(
    {
        .name = "unbatch",
        .role = ir::Role::kRow,
        .summary = "Makes a row of every entry along the first axis of all columns.",
        .doc = "The first axes of a row's columns must be of equal length; they may differ from row to row, and one "
               "of length 0 gives no rows. Rows are views of the batch; none is copied. A row's key is that of the "
               "batch mixed with the row's number in it.",
        .traits = {.one_to_many = true},
        .python_module = "dataset",
        .example = "ds.unbatch()",
        .infer = Infer,
        // Reads all columns, because their lengths must agree even if they are unused.
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       return std::make_unique<UnbatchOperator>(arguments.inputs[0].Names());
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows of the batch already given out.
           properties.checkpoint_counters = 1;
           properties.splits_messages = true;
         },
     .cardinality = [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) -> Cardinality {
       // Every batch has as many rows as the first axis, where that is known.
       for (const ir::Column& column : arguments.inputs[0].columns) {
         const bool known = column.type.shape.has_value() && !column.type.shape->empty();
         if (!known || (*column.type.shape)[0] == ir::kUnknownDim || !inputs[0].known()) continue;
         return Cardinality::Product(inputs[0].rows, static_cast<uint64_t>((*column.type.shape)[0]));
       }
       return inputs[0].kind == Cardinality::Kind::kEndless ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
