#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/operator.h"
#include "ops/ragged_columns.h"

namespace headrace {
namespace {

// What becomes a column of rows.
struct Source {
  int column = 0;
  int splits = -1;  // the column of its splits; -1: it is not ragged
};

// The columns of splits are left out.
absl::StatusOr<std::vector<Source>> SourcesOf(const ir::Schema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<RaggedColumn> ragged, RaggedColumns(schema));
  std::vector<int> splits_of(schema.columns.size(), -1);
  for (const RaggedColumn& column : ragged) splits_of[static_cast<size_t>(column.values)] = column.splits;
  std::vector<Source> sources;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    if (!schema.columns[i].type.ragged) sources.push_back({static_cast<int>(i), splits_of[i]});
  }
  return sources;
}

// As far as its type says.
int64_t RowsOfBatch(const Source& source, const ir::Schema& schema) {
  const std::optional<Shape>& shape = schema.columns[source.splits < 0 ? source.column : source.splits].type.shape;
  const int64_t length = shape.has_value() && !shape->empty() ? shape->front() : ir::kUnknownDim;
  return source.splits < 0 || length == ir::kUnknownDim ? length : length - 1;
}

// The rows of one batch travel as one part: views of the batch's own columns.
class UnbatchOperator : public RowOperator {
 public:
  UnbatchOperator(std::vector<Source> sources, std::vector<std::string> names)
      : sources_(std::move(sources)), names_(std::move(names)) {}

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
    int first = 0;
    for (const Source& source : sources_) {
      Tensor tensor = block.columns[source.column].row(row);
      const bool ragged = source.splits >= 0;
      const Tensor splits = ragged ? block.columns[source.splits].row(row) : Tensor();
      if (ragged) HEADRACE_RETURN_IF_ERROR(CheckSplitsOf(source.column, splits, tensor));
      HEADRACE_RETURN_IF_ERROR(CheckLength(source.column, tensor, ragged ? splits.dim(0) - 1 : -1, first, rows));
      if (rows < 0) {
        rows = ragged ? splits.dim(0) - 1 : tensor.dim(0);
        first = source.column;
      }
      part->columns.push_back(ragged ? RowsOf(tensor, splits) : BlockColumn::Stacked(std::move(tensor)));
    }
    const RowId& id = block.ids[row];
    for (int64_t child = 0; child < rows; ++child) {
      part->ids.push_back(id);
      part->ids.back().key = MixKey(id.key, static_cast<uint64_t>(child));
      part->provenances.Append(block.provenances, static_cast<size_t>(row));
    }
    return part;
  }

  static BlockColumn RowsOf(const Tensor& values, const Tensor& splits) {
    const int64_t* const ends = splits.data<int64_t>();
    BlockColumn rows;
    for (int64_t i = 0; i + 1 < splits.dim(0); ++i) rows.Append(values.Slice(0, ends[i], ends[i + 1] - ends[i]));
    return rows;
  }

  absl::Status CheckSplitsOf(int column, const Tensor& splits, const Tensor& values) const {
    absl::Status status = CheckSplits(splits, values);
    if (status.ok()) return status;
    return DataError("column \"", names_[column], "\": ", ToStd(status.message()));
  }

  // `ragged_rows`: of a ragged column; -1: of another one, whose first axis counts.
  absl::Status CheckLength(int column, const Tensor& tensor, int64_t ragged_rows, int first, int64_t rows) const {
    if (tensor.rank() == 0) {
      return DataError("column \"", names_[column], "\" is ", tensor.TypeName(), ": it has no first axis to unbatch");
    }
    const int64_t own = ragged_rows < 0 ? tensor.dim(0) : ragged_rows;
    if (rows < 0 || own == rows) return absl::OkStatus();
    return DataError("columns \"", names_[first], "\" and \"", names_[column], "\" have ", rows, " and ", own,
                     " rows: unbatch needs first axes of equal length");
  }

  const std::vector<Source> sources_;
  const std::vector<std::string> names_;
};

absl::StatusOr<ir::Schema> Infer(const ir::Attributes& /*attributes*/, absl::Span<const ir::Schema> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<Source> sources, SourcesOf(inputs[0]));
  ir::Schema schema;
  int64_t rows = ir::kUnknownDim;
  std::string first;
  for (const Source& source : sources) {
    ir::Column column = inputs[0].columns[source.column];
    if (column.type.shape.has_value() && column.type.shape->empty()) {
      return GraphError("column \"", column.name, "\" is ", ir::TypeName(column.type),
                        ": it has no first axis to unbatch; drop it with project first");
    }
    const int64_t length = RowsOfBatch(source, inputs[0]);
    if (length != ir::kUnknownDim && rows != ir::kUnknownDim && length != rows) {
      return GraphError("columns \"", first, "\" and \"", column.name, "\" have ", rows, " and ", length,
                        " rows: unbatch needs first axes of equal length");
    }
    if (length != ir::kUnknownDim && rows == ir::kUnknownDim) {
      rows = length;
      first = column.name;
    }
    if (column.type.shape.has_value() && source.splits < 0) column.type.shape->erase(column.type.shape->begin());
    if (column.type.shape.has_value() && source.splits >= 0) column.type.shape->front() = ir::kUnknownDim;
    schema.columns.push_back(std::move(column));
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
               "batch mixed with the row's number in it. Ragged columns, of `batch(ragged=\"splits\")` or \"list\", "
               "give the rows back that were joined, and their splits are gone.",
        .traits = {.one_to_many = true},
        .python_module = "dataset",
        .example = "ds.unbatch()",
        .infer = Infer,
        // Reads all columns, because their lengths must agree even if they are unused.
    },
    {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
       HEADRACE_ASSIGN_OR_RETURN(std::vector<Source> sources, SourcesOf(arguments.inputs[0]));
       return std::make_unique<UnbatchOperator>(std::move(sources), arguments.inputs[0].Names());
     },
     .properties =
         [](const OpArguments& /*arguments*/, OperatorProperties& properties) {
           // Rows of the batch already given out.
           properties.checkpoint_counters = 1;
           properties.splits_messages = true;
         },
     .cardinality = [](const OpArguments& arguments, absl::Span<const Cardinality> inputs) -> Cardinality {
       // Every batch has as many rows as the first axis, where that is known.
       const absl::StatusOr<std::vector<Source>> sources = SourcesOf(arguments.inputs[0]);
       for (size_t i = 0; sources.ok() && i < sources->size(); ++i) {
         const int64_t rows = RowsOfBatch((*sources)[i], arguments.inputs[0]);
         if (rows == ir::kUnknownDim || !inputs[0].known()) continue;
         return Cardinality::Product(inputs[0].rows, static_cast<uint64_t>(rows));
       }
       return inputs[0].kind == Cardinality::Kind::kEndless ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
