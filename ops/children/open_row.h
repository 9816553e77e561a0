// `OpenRow` is a row whose children are being given: it holds those that its function has made and that wait, and the
// function itself, which runs on as they are needed. It is asked for a run of them at a time, for twice as many as
// before up to a limit, so that few cost little, many are cheap, and one that never ends takes no memory.
// Threads: one thread, on which the function is called.
#ifndef HEADRACE_OPS_CHILDREN_OPEN_ROW_H_
#define HEADRACE_OPS_CHILDREN_OPEN_ROW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "engine/operator/block.h"
#include "engine/operator/failed_row.h"
#include "engine/operator/host_children.h"
#include "ir/type.h"

namespace headrace {

class OpenRow {
 public:
  // What holds for all rows.
  struct Limits {
    const ir::Columns columns;  // of a child, as far as declared
    const size_t run_bytes;     // a run ends with the child that reaches them
  };
  OpenRow(const RowId& id, Provenance provenance, const Limits* limits, std::unique_ptr<HostChildren> children)
      : id_(id), provenance_(std::move(provenance)), limits_(limits), children_(std::move(children)) {}
  // A row that failed: its one child is a message with the error.
  OpenRow(const RowId& id, Provenance provenance, const Limits* limits, Message failed)
      : id_(id), provenance_(std::move(provenance)), limits_(limits), failed_(std::move(failed)) {}
  ~OpenRow() = default;
  OpenRow(const OpenRow&) = delete;

  // The row ends with the error of its function, in the place of a child.
  static Message FailedMessage(const RowId& id, const Provenance& provenance, absl::Status error);

  // Makes the first `count` children and drops them: they were given before a restart.
  void Drop(int64_t count);
  // Whether a child, or an error in the place of one, is left.
  bool HasNext();
  // The next children, at least one and at most `most`, without epoch and checkpoint; or the error. HasNext() said that
  // there is one.
  Message Next(int64_t most);
  // Whether none is left, as far as that is known without the function.
  bool done() const { return waiting_ == nullptr && failed_ == nullptr && children_ == nullptr; }
  // Ends the function's work for the row.
  void Close();

  // Of those that wait.
  size_t held_bytes() const { return held_bytes_; }

 private:
  void Pull();
  void Fail(absl::Status error);
  Message Part(int count);

  const RowId id_;
  const Provenance provenance_;
  const Limits* const limits_;
  std::unique_ptr<HostChildren> children_;  // null: the function makes no more
  Message waiting_;                         // null: no child waits
  int given_ = 0;                           // of those in waiting_
  size_t held_bytes_ = 0;
  Message failed_;    // what comes after those that wait; null: no error
  int64_t made_ = 0;  // children, those dropped included
  int run_ = 4;       // the children to ask for next
};

}  // namespace headrace

#endif  // HEADRACE_OPS_CHILDREN_OPEN_ROW_H_
