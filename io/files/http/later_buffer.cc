#include "io/files/http/later_buffer.h"

#include <utility>

namespace headrace::http {
namespace {

// Charged to the running task, whose size is measured by it; null: there is none.
MemoryAccount* Charged(size_t bytes) {
  TaskMemory* const task = TaskMemory::Current();
  if (task == nullptr || task->account() == nullptr) return nullptr;
  task->Add(static_cast<int64_t>(bytes));
  return task->account();
}

}  // namespace

LaterBuffer::LaterBuffer(size_t bytes) : bytes_(bytes), pool_(&BufferPool::Current()), account_(Charged(bytes)) {}

LaterBuffer::~LaterBuffer() { TakeOff(); }

void LaterBuffer::TakeOff() {
  MemoryAccount* const account = std::exchange(account_, nullptr);
  if (account != nullptr) account->Charge(-static_cast<int64_t>(bytes_));
}

absl::Span<uint8_t> LaterBuffer::Get() {
  if (!buffer_) {
    {
      const TaskMemory task(pool_, account_, 0);
      buffer_ = pool_->Allocate(bytes_);
    }
    // The account lives as long as something is charged to it.
    if (buffer_) TakeOff();
  }
  return buffer_ ? absl::MakeSpan(buffer_->data(), bytes_) : absl::Span<uint8_t>();
}

}  // namespace headrace::http
