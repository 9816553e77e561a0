#include "engine/testing/cooperative_threads.h"

#include <cstring>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace headrace {
namespace {

constexpr size_t kStackBytes = 256 << 10;

CooperativeThreads* current = nullptr;

// State of the running schedule; the thread that has the turn may touch it.
CooperativeWake::Loss loss;
const char* doing = nullptr;
int wakes_made = 0;
int seen = 0;

}  // namespace

CooperativeThreads* CooperativeThreads::Current() { return current; }

void CooperativeThreads::Add(std::function<void()> body) {
  threads_.push_back(std::make_unique<Thread>());
  threads_.back()->body = std::move(body);
}

bool CooperativeThreads::Run() {
  for (auto& thread : threads_) {
    thread->stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    Fiber& fiber = thread->fiber;
    fiber.stack = thread->stack.get();
    fiber.stack_bytes = kStackBytes;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = thread->stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    makecontext(&fiber.context, &CooperativeThreads::Enter, 0);
#ifdef __SANITIZE_THREAD__
    fiber.sanitizer_fiber = __tsan_create_fiber(0);
#endif
  }
#ifdef __SANITIZE_THREAD__
  home_.sanitizer_fiber = __tsan_get_current_fiber();
#endif
  current = this;
  running_ = Choose();
  Switch(home_, running_->fiber, false);
  current = nullptr;
#ifdef __SANITIZE_THREAD__
  for (auto& thread : threads_) __tsan_destroy_fiber(thread->fiber.sanitizer_fiber);
#endif
  return !hung_;
}

void CooperativeThreads::Enter() {
#ifdef __SANITIZE_ADDRESS__
  Fiber& home = current->home_;
  const void* left_stack = nullptr;
  size_t left_bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &left_stack, &left_bytes);
  // The first fiber is entered from there.
  if (home.stack == nullptr) {
    home.stack = left_stack;
    home.stack_bytes = left_bytes;
  }
#endif
  current->Work(*current->running_);
}

void CooperativeThreads::Work(Thread& thread) {
  try {
    thread.body();
  } catch (const Hung&) {
  }
  thread.ended = true;
  Switch(thread.fiber, After(), true);
}

CooperativeThreads::Fiber& CooperativeThreads::After() {
  Thread* next = Choose();
  for (auto& thread : threads_) {
    if (next != nullptr) break;
    if (thread->ended) continue;
    hung_ = true;
    next = thread.get();
  }
  running_ = next;
  return next == nullptr ? home_ : next->fiber;
}

void CooperativeThreads::Switch(Fiber& from, Fiber& to, [[maybe_unused]] bool ends) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.sanitizer_stack, to.stack, to.stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
  swapcontext(&from.context, &to.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.sanitizer_stack, nullptr, nullptr);
#endif
}

CooperativeThreads::Thread* CooperativeThreads::Choose() {
  if (hung_) return nullptr;
  able_.clear();
  for (auto& thread : threads_) {
    if (!thread->ended && thread->waits_on == nullptr) able_.push_back(thread.get());
  }
  return able_.empty() ? nullptr : able_[random_.Below(able_.size())];
}

void CooperativeThreads::PassTurn(Thread& self) {
  Thread* next = Choose();
  if (next == &self) return;
  if (next == nullptr) {
    // All threads wait, including this one.
    hung_ = true;
    throw Hung();
  }
  running_ = next;
  Switch(self.fiber, next->fiber, false);
  if (hung_) throw Hung();
}

void CooperativeThreads::Yield() {
  const char* const own = std::exchange(doing, nullptr);
  PassTurn(*running_);
  doing = own;
}

void CooperativeThreads::Wait(const void* point) {
  Thread& self = *running_;
  self.waits_on = point;
  const char* const own = std::exchange(doing, nullptr);
  PassTurn(self);
  doing = own;
}

void CooperativeThreads::Notify(const void* point) {
  for (auto& thread : threads_) {
    if (thread->waits_on == point) thread->waits_on = nullptr;
  }
}

CooperativeWake::CooperativeWake() : number_(wakes_made++) {}

void CooperativeWake::Notify() {
  if (loss.wake == number_ && doing != nullptr && std::strcmp(loss.doing, doing) == 0) {
    const int number = seen++;
    if (loss.only < 0 || loss.only == number) return;
  }
  // A connector may be closed after the schedule has ended.
  if (current != nullptr) current->Notify(this);
}

void CooperativeWake::Doing(const char* what) { doing = what; }

void CooperativeWake::Lose(Loss lost) {
  loss = lost;
  wakes_made = 0;
  seen = 0;
}

int CooperativeWake::Seen() { return seen; }

}  // namespace headrace
