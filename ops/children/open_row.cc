#include "ops/children/open_row.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/rows/declared_types.h"
#include "ops/source/memory/host_row.h"

namespace headrace {
namespace {

constexpr int kLongestRun = 256;

}  // namespace

Message OpenRow::FailedMessage(const RowId& id, const Provenance& provenance, absl::Status error) {
  AddErrorField(error, ErrorField::kFile, DescribeProvenance(provenance));
  AddErrorField(error, ErrorField::kRow, DescribeRowId(id));
  Message message = MakeErrorMessage(0, {}, std::move(error));
  message->failed = std::make_unique<FailedRow>(FailedRow{id, provenance, {}});
  return message;
}

void OpenRow::Fail(absl::Status error) {
  Close();
  failed_ = FailedMessage(id_, provenance_, std::move(error));
}

void OpenRow::Close() {
  if (children_ != nullptr) children_->Close();
  children_.reset();
}

void OpenRow::Drop(int64_t count) {
  if (children_ == nullptr) return;
  absl::Status dropped = children_->Drop(static_cast<uint64_t>(count));
  made_ = count;
  if (!dropped.ok()) Fail(std::move(dropped));
}

bool OpenRow::HasNext() {
  if (waiting_ == nullptr && failed_ == nullptr && children_ != nullptr) Pull();
  return waiting_ != nullptr || failed_ != nullptr;
}

void OpenRow::Pull() {
  std::vector<std::vector<Tensor>> rows;
  bool ended = false;
  absl::Status status = children_->Next(run_, limits_->run_bytes, rows, ended);
  run_ = std::min(2 * run_, kLongestRun);
  auto block = std::make_unique<Block>();
  for (std::vector<Tensor>& row : rows) {
    if (absl::Status declared = CheckDeclared(limits_->columns, row); !declared.ok()) {
      status = std::move(declared);
      break;
    }
    RowId id = id_;
    id.key = MixKey(id_.key, static_cast<uint64_t>(made_++));
    AppendRow(*block, id, provenance_, row);
  }
  if (block->rows() > 0) {
    JoinSmallRows(*block);
    waiting_ = std::move(block);
    held_bytes_ = waiting_->footprint();
  }
  if (!status.ok()) {
    Fail(std::move(status));
  } else if (ended) {
    Close();
  }
}

Message OpenRow::Next(int64_t most) {
  if (waiting_ == nullptr) return std::move(failed_);
  const int count = static_cast<int>(std::min<int64_t>(most, waiting_->rows() - given_));
  Message next = count == waiting_->rows() ? std::move(waiting_) : Part(count);
  given_ += count;
  if (waiting_ == nullptr || given_ == waiting_->rows()) {
    waiting_.reset();
    given_ = 0;
    held_bytes_ = 0;
  }
  return next;
}

// The next so many of those that wait.
Message OpenRow::Part(int count) {
  auto part = std::make_unique<Block>();
  part->ids.assign(waiting_->ids.begin() + given_, waiting_->ids.begin() + given_ + count);
  for (int row = given_; row < given_ + count; ++row) part->provenances.push_back(provenance_);
  for (BlockColumn& column : waiting_->columns) part->columns.push_back(column.TakeRows(given_, count));
  return part;
}

}  // namespace headrace
