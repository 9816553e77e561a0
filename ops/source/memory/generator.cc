#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "engine/operator/operator.h"
#include "ops/source/memory/host_row.h"

namespace headrace {
namespace {

class GeneratorSource : public StreamSource {
 public:
  GeneratorSource(std::shared_ptr<HostIterator> iterator, const OpArguments& arguments)
      : iterator_(std::move(iterator)),
        name_(arguments.attributes.ReferenceName("function")),
        columns_(arguments.output.columns) {}

  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override {
    epoch_ = epoch;
    next_ = counters[0];
    return iterator_->Start(epoch, counters[0]);
  }

  absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                        bool& end) override {
    const absl::Status read = Collect(rows, share, block, counters);
    end = read.ok() && block.rows() == 0;
    JoinSmallRows(block);
    return read;
  }

  // The rows of a function are not known before it is called.
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back({Cat("Generator ", name_), 0, 0});
  }

 private:
  absl::Status Collect(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters) {
    while (block.rows() < rows) {
      // A pipeline that is closed waits for one call of the user's function, not for many.
      if (StopSignal::Raised()) return StopSignal::Error();
      HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> row, iterator_->Next());
      if (row.empty()) break;
      const uint64_t index = next_++;
      HEADRACE_RETURN_IF_ERROR(CheckHostRow(columns_, row, "the generator", name_, index));
      if (!share.Has(index)) continue;
      AppendRow(block, {epoch_, index}, {nullptr, static_cast<int64_t>(index), -1}, row);
      counters[0] = next_;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<HostIterator> iterator_;
  const std::string name_;
  const ir::Columns columns_;
  uint64_t epoch_ = 0;
  uint64_t next_ = 0;  // number of the row that comes next
};

absl::StatusOr<ir::Schema> InferGenerator(const ir::Attributes& attributes, absl::Span<const ir::Schema> /*inputs*/) {
  ir::Schema schema = attributes.Columns("columns");
  if (schema.columns.empty()) return GraphError("columns is empty; name what each row of the generator holds");
  return schema;
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeGenerator(const OpArguments& arguments) {
  const std::string& name = arguments.attributes.ReferenceName("function");
  const auto& iterators = arguments.run->bindings->iterators;
  const auto found = iterators.find(name);
  if (found == iterators.end()) {
    return GraphError("the Python generator ", name,
                      " is not here: a graph that holds one runs only where it was built");
  }
  return std::make_unique<GeneratorSource>(found->second(), arguments);
}

const OpRegistration generator_registration(
    {
        .name = "Generator",
        .role = ir::Role::kSource,
        .summary = "Gives the rows of a Python iterator, a new one each epoch.",
        .doc = "The function is called for each epoch, as function(epoch) or function(), and returns an iterator over "
               "rows: dicts, or single values if there is one column. It runs on a thread of its own, and not before "
               "the epoch is requested. A row's key is its number. To resume within an epoch, the earlier rows are "
               "made again and dropped, unless the iterator has a method seek(row).",
        .min_inputs = 0,
        .max_inputs = 0,
        .attributes = {{.name = "function",
                        .type = ir::AttributeType::kReference,
                        .doc = "A callable that gives an iterator for an epoch.",
                        .referenced = ir::Referenced::kGenerator},
                       {.name = "columns",
                        .type = ir::AttributeType::kColumns,
                        .doc = "The columns of a row, with their types."}},
        .traits = {.deterministic = false, .python = true, .ordered = true},
        .python =
            {.parameters = "function: Callable[..., Iterable[Any]], columns: Columns",
             .docs = {{"function",
                       "Returns a new iterator for an epoch: called with the epoch if it takes an argument, and with "
                       "`start=`, the number of rows to skip, if it has such a parameter. If it has none, and the "
                       "iterator has no method `seek(row)`, a restart reads the earlier rows again."},
                      {"columns",
                       "Names of the columns, or a dict from name to dtype, or to (dtype, shape): {\"x\": \"float32\", "
                       "\"image\": (\"uint8\", (None, None, 3))}. A row is a dict, or a tuple in this order."}}},
        .example = "hr.Generator(lambda: ({\"x\": i} for i in range(10)), {\"x\": \"int64\"})",
        .infer = InferGenerator,
    },
    {.stream_source = MakeGenerator});

}  // namespace
}  // namespace headrace
