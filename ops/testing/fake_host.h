// Replaces the user's Python in tests: arrays, functions and iterators to bind to a graph. Used by the test's thread,
// except for the calls of the engine.
#ifndef HEADRACE_OPS_TESTING_FAKE_HOST_H_
#define HEADRACE_OPS_TESTING_FAKE_HOST_H_

#include <functional>
#include <memory>
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

// Of shape (number of values).
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

inline void BindIterator(HostBindings& bindings, std::string name, FakeIterator::Row row) {
  bindings.iterators[std::move(name)] = [row = std::move(row)] { return std::make_shared<FakeIterator>(row); };
}

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_FAKE_HOST_H_
