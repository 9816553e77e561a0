#include "python/binding/process/process_calls.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "engine/operator/host_runs.h"

namespace headrace::python {
namespace {

// Takes as many tensors as the result says: one, which may have a slot in its batch, or several.
absl::Status TakeTensors(WireReader& reader, OutputAllocator& output, std::vector<Tensor>& tensors) {
  const uint64_t count = reader.Number();
  OutputAllocator apart;
  absl::Status failed;
  for (uint64_t i = 0; i < count && reader.status().ok(); ++i) {
    absl::StatusOr<Tensor> tensor = reader.Copy(count == 1 ? output : apart);
    failed.Update(tensor.status());
    // Goes on if there is no memory for it: the next result follows all of them.
    if (tensor.ok()) tensors.push_back(*std::move(tensor));
  }
  return reader.status().ok() ? failed : reader.status();
}

// Calls of function `number`.
class FunctionCalls : public ProcessCalls {
 public:
  FunctionCalls(uint64_t number, absl::Span<const HostCall> calls, RunFunction::TakeResults take)
      : number_(number), calls_(calls), take_(take) {
    results_.reserve(calls.size());
  }

  size_t count() const override { return calls_.size(); }

  void Write(size_t call, WireWriter& writer) override {
    const HostCall& made = calls_[call];
    writer.Number(number_);
    writer.Number(made.random == nullptr ? 0 : made.random->key());
    writer.Number(made.random == nullptr ? 0 : made.random->row());
    writer.Number(made.inputs.size());
    for (const Tensor& input : made.inputs) writer.Put(input);
  }

  void Take(size_t call, absl::Status error, WireReader* reader) override {
    std::vector<Tensor> tensors;
    if (reader != nullptr) {
      const absl::Status taken = TakeTensors(*reader, *calls_[call].output, tensors);
      if (error.ok()) error = taken;
    }
    if (error.ok()) {
      results_.emplace_back(std::move(tensors));
    } else {
      results_.emplace_back(std::move(error));
    }
  }

  void Taken(size_t end) override {
    if (results_.empty()) return;
    take_(end - results_.size(), absl::MakeSpan(results_));
    results_.clear();
  }

 private:
  const uint64_t number_;
  const absl::Span<const HostCall> calls_;
  const RunFunction::TakeResults take_;
  std::vector<RunFunction::Results> results_;  // that were not given out yet
};

class ProcessFunction : public HostFunction, public RunFunction {
 public:
  ProcessFunction(uint64_t number, std::shared_ptr<ProcessPool> pool) : number_(number), pool_(std::move(pool)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator& output) override {
    const HostCall call{inputs, random, &output};
    RunFunction::Results given;
    CallRun({&call, 1}, [&given](size_t, absl::Span<RunFunction::Results> results) { given = std::move(results[0]); });
    return given;
  }

  void CallRun(absl::Span<const HostCall> calls, TakeResults take) override {
    FunctionCalls made(number_, calls, take);
    pool_->Make(made);
  }

  int processes() const override { return pool_->size(); }

 private:
  const uint64_t number_;
  const std::shared_ptr<ProcessPool> pool_;
};

// One call for rows of an object.
class RowsCall : public ProcessCalls {
 public:
  RowsCall(uint64_t epoch_key, absl::Span<const uint64_t> indices, std::vector<std::vector<Tensor>>& rows)
      : epoch_key_(epoch_key), indices_(indices), rows_(rows) {}

  const absl::Status& status() const { return status_; }
  size_t count() const override { return 1; }

  void Write(size_t /*call*/, WireWriter& writer) override {
    writer.Number(epoch_key_);
    writer.Number(indices_.size());
    for (const uint64_t index : indices_) writer.Number(index);
  }

  void Take(size_t /*call*/, absl::Status error, WireReader* reader) override {
    // With an error, the rows before the one that failed.
    const absl::Status taken = reader == nullptr ? absl::OkStatus() : TakeRows(*reader);
    status_ = error.ok() ? taken : std::move(error);
  }

  void Taken(size_t /*end*/) override {}

 private:
  absl::Status TakeRows(WireReader& reader) {
    const uint64_t count = reader.Number();
    OutputAllocator output;
    for (uint64_t i = 0; i < count && reader.status().ok(); ++i) {
      std::vector<Tensor> row;
      HEADRACE_RETURN_IF_ERROR(TakeTensors(reader, output, row));
      rows_.push_back(std::move(row));
    }
    return reader.status();
  }

  const uint64_t epoch_key_;
  const absl::Span<const uint64_t> indices_;
  std::vector<std::vector<Tensor>>& rows_;
  absl::Status status_;
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
    RowsCall call(epoch_key, indices, rows);
    pool_->Make(call);
    return call.status();
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
