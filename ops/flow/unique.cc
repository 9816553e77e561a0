#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/error.h"
#include "core/seeded_hash.h"
#include "core/text.h"
#include "ir/ragged_columns.h"
#include "ir/suggestion.h"
#include "ops/flow/replayed_operator.h"

namespace headrace {
namespace {

// The columns that tell rows apart.
std::vector<std::string> UniqueColumns(const ir::Attributes& attributes, const ir::Schema& schema) {
  return attributes.IsNone("columns") ? schema.Names() : attributes.Strings("columns");
}

// Appends what differs for values that differ: type, shape and elements, each text after its length.
absl::Status AppendValue(const Tensor& value, std::string& key) {
  key.push_back(static_cast<char>(value.dtype()));
  Append(key, ShapeName(value.shape()));
  if (IsVariableLength(value.dtype())) {
    for (int64_t i = 0; i < value.elements(); ++i) {
      const std::string_view text = value.bytes_at(i);
      Append(key, text.size(), ":", text);
    }
    return absl::OkStatus();
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, value.Contiguous());
  key.append(reinterpret_cast<const char*>(dense.raw()), dense.bytes());
  return absl::OkStatus();
}

class UniqueOperator : public ReplayedOperator {
 public:
  explicit UniqueOperator(std::vector<int> columns) : columns_(std::move(columns)) {}

  size_t held_bytes() const override { return held_bytes_; }

 protected:
  void Forget() override {
    seen_.clear();
    held_bytes_ = 0;
  }

  absl::StatusOr<bool> Use(Block& block, int row, bool /*again*/) override {
    key_.clear();
    for (const int column : columns_) {
      HEADRACE_RETURN_IF_ERROR(AppendValue(block.columns[static_cast<size_t>(column)].row(row), key_));
    }
    if (!seen_.insert(key_).second) return false;
    held_bytes_ += sizeof(std::string) + key_.size();
    return true;
  }

 private:
  const std::vector<int> columns_;
  std::string key_;  // of the row
  absl::flat_hash_set<std::string, SeededHash> seen_;
  size_t held_bytes_ = 0;
};

absl::StatusOr<ir::Schema> InferUnique(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs) {
  const std::vector<std::string> columns = UniqueColumns(attributes, inputs[0]);
  if (columns.empty()) return GraphError("columns is empty; name those that tell rows apart");
  for (const std::string& name : columns) HEADRACE_RETURN_IF_ERROR(ir::FindColumn(inputs[0], name).status());
  HEADRACE_RETURN_IF_ERROR(ir::RefuseLists(inputs[0], columns, "compared by unique"));
  return inputs[0];
}

std::vector<ir::ColumnSet> ReadsUnique(const ir::Attributes& attributes, absl::Span<const ir::Schema> inputs,
                                       const ir::ColumnSet& wanted) {
  std::vector<ir::ColumnSet> reads = ir::PassesColumns()(attributes, inputs, wanted);
  const std::vector<std::string> columns = UniqueColumns(attributes, inputs[0]);
  reads[0].insert(columns.begin(), columns.end());
  return reads;
}

const OpRegistration unique_registration(
    {
        .name = "unique",
        .role = ir::Role::kStream,
        .summary = "Leaves out rows whose values came before in the epoch.",
        .doc = "Of rows that are equal in `columns`, in dtype, shape and every byte, the first one stays: tf.data's "
               "unique, for chosen columns. All different values of an epoch are held in memory. With shards each "
               "rank compares its own rows. A restart reads the epoch from its start again, with what stands below, "
               "and gives none of these rows twice.",
        .attributes = {{.name = "columns",
                        .type = ir::AttributeType::kStrings,
                        .doc = "The columns that are compared; None: all.",
                        .default_value = "None",
                        .nullable = true,
                        .length = ir::ListLength{}}},
        .python_module = "dataset",
        .python = {.parameters = "columns: str | Sequence[str] | None = None", .docs = {{"columns"}}},
        .example = "ds.unique(\"label\")",
        .infer = InferUnique,
        .reads = ReadsUnique,
        .most_rows = ir::NoMoreRows(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
       const ir::Schema& schema = arguments.inputs[0];
       std::vector<int> columns;
       for (const std::string& name : UniqueColumns(arguments.attributes, schema)) {
         columns.push_back(schema.IndexOf(name));
       }
       return std::make_unique<UniqueOperator>(std::move(columns));
     },
     .properties = [](const OpArguments& /*arguments*/,
                      OperatorProperties& properties) { properties.checkpoint_counters = ReplayedOperator::kCounters; },
     .cardinality = [](const OpArguments& /*arguments*/, absl::Span<const Cardinality> inputs) -> Cardinality {
       return inputs[0].known() && inputs[0].rows <= 1 ? inputs[0] : Cardinality::Unknown();
     }});

}  // namespace
}  // namespace headrace
