#include "python/headrace/process_calls.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"

namespace headrace::python {
namespace {

// Takes as many tensors as the result says: one, which may have a slot in its batch, or several.
absl::Status TakeTensors(WireReader& reader, OutputAllocator& output, std::vector<Tensor>& tensors) {
  const uint64_t count = reader.Number();
  OutputAllocator apart;
  for (uint64_t i = 0; i < count && reader.status().ok(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, reader.Copy(count == 1 ? output : apart));
    tensors.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

class ProcessFunction : public HostFunction {
 public:
  ProcessFunction(uint64_t number, std::shared_ptr<ProcessPool> pool) : number_(number), pool_(std::move(pool)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override {
    std::vector<Tensor> results;
    const auto write = [&](WireWriter& writer) {
      writer.Number(number_);
      writer.Number(random == nullptr ? 0 : random->key());
      writer.Number(random == nullptr ? 0 : random->row());
      writer.Number(inputs.size());
      for (const Tensor& input : inputs) writer.Put(input);
    };
    const auto read = [&](WireReader& reader) { return TakeTensors(reader, output, results); };
    HEADRACE_RETURN_IF_ERROR(pool_->Call(write, read));
    return results;
  }

  int processes() const override { return pool_->size(); }

 private:
  const uint64_t number_;
  const std::shared_ptr<ProcessPool> pool_;
};

class ProcessRows : public HostRows {
 public:
  ProcessRows(std::shared_ptr<HostRows> here, std::shared_ptr<ProcessPool> pool)
      : here_(std::move(here)), pool_(std::move(pool)) {}

  uint64_t size() const override { return here_->size(); }
  bool in_runs() const override { return here_->in_runs(); }
  int processes() const override { return pool_->size(); }

  absl::Status Read(uint64_t epoch_key, absl::Span<const uint64_t> indices,
                    std::vector<std::vector<Tensor>>& rows) override {
    const auto write = [&](WireWriter& writer) {
      writer.Number(epoch_key);
      writer.Number(indices.size());
      for (const uint64_t index : indices) writer.Number(index);
    };
    const auto read = [&](WireReader& reader) -> absl::Status {
      const uint64_t count = reader.Number();
      OutputAllocator output;
      for (uint64_t i = 0; i < count && reader.status().ok(); ++i) {
        std::vector<Tensor> row;
        HEADRACE_RETURN_IF_ERROR(TakeTensors(reader, output, row));
        rows.push_back(std::move(row));
      }
      return absl::OkStatus();
    };
    return pool_->Call(write, read);
  }

 private:
  const std::shared_ptr<HostRows> here_;
  const std::shared_ptr<ProcessPool> pool_;
};

}  // namespace

std::shared_ptr<HostFunction> FunctionInProcesses(uint64_t number, std::shared_ptr<ProcessPool> pool) {
  return std::make_shared<ProcessFunction>(number, std::move(pool));
}

std::shared_ptr<HostRows> RowsInProcesses(std::shared_ptr<HostRows> here, std::shared_ptr<ProcessPool> pool) {
  return std::make_shared<ProcessRows>(std::move(here), std::move(pool));
}

}  // namespace headrace::python
