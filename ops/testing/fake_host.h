// `FakeFunction` and its neighbours replace the user's Python in tests: arrays, functions and iterators to bind to a
// graph.
// Threads: used by the test's thread, except for the calls of the engine.
#ifndef HEADRACE_OPS_TESTING_FAKE_HOST_H_
#define HEADRACE_OPS_TESTING_FAKE_HOST_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/host.h"
#include "ir/type.h"

namespace headrace {

inline Tensor Int64Tensor(absl::Span<const int64_t> shape, const std::vector<int64_t>& values) {
  Tensor tensor = *Tensor::Allocate(DType::kInt64, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

// Returns a tensor of shape (number of values).
inline Tensor Int64s(const std::vector<int64_t>& values) {
  return Int64Tensor({static_cast<int64_t>(values.size())}, values);
}

inline Tensor Strings(const std::vector<std::string_view>& values) {
  return *Tensor::CopyBytesArray(DType::kString, {static_cast<int64_t>(values.size())}, values);
}

// Columns of int64 of shape (), one for each letter.
inline ir::Schema Int64Columns(std::string_view letters) {
  ir::Schema schema;
  for (const char letter : letters) {
    schema.columns.push_back({std::string(1, letter), ir::ColumnType::Of(DType::kInt64, {})});
  }
  return schema;
}

class FakeFunction : public HostFunction {
 public:
  using Body = std::function<absl::StatusOr<std::vector<Tensor>>(absl::Span<const Tensor>, RowRandom*)>;
  explicit FakeFunction(Body body) : body_(std::move(body)) {}
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                           OutputAllocator&) override {
    return body_(inputs, random);
  }

 private:
  Body body_;
};

// Returns row(epoch, i) for i = 0, 1, … until it is empty; can seek.
class FakeIterator : public HostIterator {
 public:
  using Row = std::function<absl::StatusOr<std::vector<Tensor>>(uint64_t epoch, uint64_t i)>;
  explicit FakeIterator(Row row) : row_(std::move(row)) {}
  absl::Status Start(uint64_t epoch, uint64_t position) override {
    epoch_ = epoch;
    next_ = position;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Tensor>> Next() override { return row_(epoch_, next_++); }

 private:
  Row row_;
  uint64_t epoch_ = 0;
  uint64_t next_ = 0;
};

// Gives row(i), and notes which rows were asked for.
class FakeRows : public HostRows {
 public:
  using Row = std::function<absl::StatusOr<std::vector<Tensor>>(uint64_t i)>;
  FakeRows(uint64_t size, Row row, bool in_runs = false) : size_(size), row_(std::move(row)), in_runs_(in_runs) {}
  uint64_t size() const override { return size_; }
  bool in_runs() const override { return in_runs_; }
  absl::Status Read(uint64_t /*epoch_key*/, absl::Span<const uint64_t> indices,
                    std::vector<std::vector<Tensor>>& rows) override {
    for (const uint64_t index : indices) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(index);
        longest_ = std::max(longest_, indices.size());
      }
      HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> row, row_(index));
      rows.push_back(std::move(row));
    }
    return absl::OkStatus();
  }

  std::vector<uint64_t> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  size_t longest() const {
    const std::lock_guard lock(mutex_);
    return longest_;
  }

 private:
  const uint64_t size_;
  const Row row_;
  const bool in_runs_;
  mutable std::mutex mutex_;
  std::vector<uint64_t> asked_;
  size_t longest_ = 0;  // run
};

inline void BindIterator(HostBindings& bindings, std::string name, FakeIterator::Row row) {
  bindings.iterators[std::move(name)] = [row = std::move(row)] { return std::make_shared<FakeIterator>(row); };
}

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_FAKE_HOST_H_
