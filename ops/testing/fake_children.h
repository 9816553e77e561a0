// `FakeChildren` replaces a user function that makes several rows of one, in tests.
// Threads: as HostFunction's; the counts from any thread.
#ifndef HEADRACE_OPS_TESTING_FAKE_CHILDREN_H_
#define HEADRACE_OPS_TESTING_FAKE_CHILDREN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/host.h"
#include "engine/operator/host_children.h"

namespace headrace {

class FakeChildren : public HostFunction, public ChildrenFunction {
 public:
  // Child number i of the row; empty: there is none.
  using Child = std::function<absl::StatusOr<std::vector<Tensor>>(absl::Span<const Tensor> row, uint64_t i)>;
  explicit FakeChildren(Child child) : child_(std::move(child)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor>, RowRandom*, OutputAllocator&) override {
    return InternalError("asked for no rows");
  }
  absl::StatusOr<std::unique_ptr<HostChildren>> MakeChildren(absl::Span<const Tensor> inputs, RowRandom* /*random*/,
                                                             const std::vector<std::string>& /*columns*/) override {
    return std::make_unique<OfRow>(this, std::vector<Tensor>(inputs.begin(), inputs.end()));
  }

  int made() const { return made_; }
  int closed() const { return closed_; }

 private:
  class OfRow : public HostChildren {
   public:
    OfRow(FakeChildren* function, std::vector<Tensor> row) : function_(function), row_(std::move(row)) {}
    absl::Status Drop(uint64_t rows) override {
      next_ = rows;
      return absl::OkStatus();
    }
    absl::Status Next(int rows, size_t bytes, std::vector<std::vector<Tensor>>& made, bool& ended) override {
      size_t taken = 0;
      for (int i = 0; i < rows && taken < bytes; ++i) {
        HEADRACE_ASSIGN_OR_RETURN(std::vector<Tensor> child, function_->child_(row_, next_));
        ended = child.empty();
        if (ended) break;
        ++next_;
        ++function_->made_;
        for (const Tensor& tensor : child) taken += tensor.bytes();
        made.push_back(std::move(child));
      }
      return absl::OkStatus();
    }
    void Close() override { ++function_->closed_; }

   private:
    FakeChildren* const function_;
    const std::vector<Tensor> row_;
    uint64_t next_ = 0;
  };

  const Child child_;
  std::atomic<int> made_ = 0;
  std::atomic<int> closed_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_FAKE_CHILDREN_H_
