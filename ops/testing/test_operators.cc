// Four operators for tests only: `test_group` sends rows on in messages of several, `test_fail` fails rows by value,
// `test_counted` counts them, `test_versioned` has a version before its own.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "engine/testing/group_rows.h"
#include "ir/graph.pb.h"
#include "ops/testing/counted_rows.h"

namespace headrace {
namespace {

using ir::Attribute;
using ir::AttributeType;

class Counted : public RowOperator {
 public:
  void Apply(Block& block) const override { counted_rows += block.rows(); }
};

class Fail : public RowOperator {
 public:
  explicit Fail(std::vector<int64_t> values) : values_(std::move(values)) {}
  void Apply(Block& block) const override {
    for (int row = 0; row < block.rows(); ++row) {
      const int64_t value = block.columns[0].row(row).value<int64_t>();
      if (std::find(values_.begin(), values_.end(), value) == values_.end()) continue;
      block.Fail(row, DataError("the value ", value, " is not liked"));
      return;
    }
  }

 private:
  std::vector<int64_t> values_;
};

const OpRegistration kCounted({.name = "test_counted",
                               .role = ir::Role::kRow,
                               .summary = "Counts the rows that pass, for tests.",
                               .traits = {.one_to_one = true},
                               .python_module = "test",
                               .infer = ir::PassesSchema(),
                               .reads = ir::PassesColumns()},
                              {.row = [](const OpArguments&) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
                                return std::make_unique<Counted>();
                              }});

const OpRegistration kVersioned(
    {.name = "test_versioned",
     .version = 2,
     .role = ir::Role::kRow,
     .summary = "Passes rows on; version 1 gave others where `other` is set, for tests.",
     .attributes = {{.name = "other", .type = AttributeType::kBool, .doc = "Give others.", .default_value = "False"}},
     .traits = {.one_to_one = true},
     .python_module = "test",
     .infer = ir::PassesSchema(),
     .upgrade = [](int /*from*/, std::vector<std::pair<std::string, ir::proto::Value>>& attributes) -> absl::Status {
       const auto gave_others = [](const auto& each) { return each.first == "other" && each.second.boolean(); };
       if (std::none_of(attributes.begin(), attributes.end(), gave_others)) return absl::OkStatus();
       return GraphError("other=True gives other rows since version 2");
     },
     .reads = ir::PassesColumns()},
    {.row = [](const OpArguments&) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
      return std::make_unique<Fail>(std::vector<int64_t>());
    }});

const OpRegistration kGroup(
    {.name = "test_group",
     .role = ir::Role::kStream,
     .summary = "Sends rows on in messages of several, for tests.",
     .attributes = {{.name = "rows", .doc = "Rows of a message.", .default_value = "3", .minimum = 1}},
     .traits = {.one_to_many = true},  // as in unbatch, rows of one message are lost with an error among them
     .python_module = "test",
     .infer = ir::PassesSchema(),
     .reads = ir::PassesColumns()},
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
      return std::make_unique<GroupRows>(static_cast<int>(arguments.attributes.Int("rows")));
    }});

const OpRegistration kFail({.name = "test_fail",
                            .role = ir::Role::kRow,
                            .summary = "Fails rows whose first column (int64) has one of some values, for tests.",
                            .attributes = {{.name = "values",
                                            .type = AttributeType::kInts,
                                            .doc = "Those that fail.",
                                            .length = ir::ListLength{.least = 0}}},
                            .traits = {.one_to_one = true},
                            .python_module = "test",
                            .infer = ir::PassesSchema()},
                           {.row = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<RowOperator>> {
                             return std::make_unique<Fail>(arguments.attributes.Ints("values"));
                           }});

}  // namespace
}  // namespace headrace
