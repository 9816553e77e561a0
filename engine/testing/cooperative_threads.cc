#include "engine/testing/cooperative_threads.h"

#include <cstring>
#include <thread>
#include <utility>

namespace headrace {
namespace {

thread_local CooperativeThreads* current = nullptr;
thread_local void* current_thread = nullptr;

// Of the schedule that runs; whoever has the turn may touch them.
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
  std::vector<std::thread> real;
  for (auto& thread : threads_) real.emplace_back([this, &thread] { Work(*thread); });
  Choose()->turn.release();
  over_.acquire();
  for (std::thread& thread : real) thread.join();
  return !hung_;
}

void CooperativeThreads::Work(Thread& thread) {
  current = this;
  current_thread = &thread;
  thread.turn.acquire();
  try {
    thread.body();
  } catch (const Hung&) {
  }
  thread.ended = true;
  if (Thread* next = Choose()) {
    next->turn.release();
    return;
  }
  SendHome();
}

// Gives the turn to one who waits for good, or says that all is over.
void CooperativeThreads::SendHome() {
  for (auto& thread : threads_) {
    if (thread->ended) continue;
    hung_ = true;
    thread->turn.release();
    return;
  }
  over_.release();
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
    // Everybody waits, this one included.
    hung_ = true;
    throw Hung();
  }
  next->turn.release();
  self.turn.acquire();
  if (hung_) throw Hung();
}

void CooperativeThreads::Yield() {
  const char* const own = std::exchange(doing, nullptr);
  PassTurn(*static_cast<Thread*>(current_thread));
  doing = own;
}

void CooperativeThreads::Wait(const void* place) {
  Thread& self = *static_cast<Thread*>(current_thread);
  self.waits_on = place;
  const char* const own = std::exchange(doing, nullptr);
  PassTurn(self);
  doing = own;
}

void CooperativeThreads::Notify(const void* place) {
  for (auto& thread : threads_) {
    if (thread->waits_on == place) thread->waits_on = nullptr;
  }
}

CooperativeWake::CooperativeWake() : number_(wakes_made++) {}

void CooperativeWake::Notify() {
  if (loss.wake == number_ && doing != nullptr && std::strcmp(loss.doing, doing) == 0) {
    const int number = seen++;
    if (loss.only < 0 || loss.only == number) return;
  }
  // Closing may happen when the schedule is over.
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
