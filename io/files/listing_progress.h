// `ListingProgress` tells whoever waits how far a long listing is: from 5 seconds on, every 10 seconds, it calls the
// function of this thread's `Scope`. Use it in whatever lists a far store by pages.
// Threads: one, on which the function is called.
#ifndef HEADRACE_IO_FILES_LISTING_PROGRESS_H_
#define HEADRACE_IO_FILES_LISTING_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace headrace {

class ListingProgress {
 public:
  static constexpr std::chrono::seconds kFirst{5};
  static constexpr std::chrono::seconds kInterval{10};

  struct Seen {
    std::string folder;
    int64_t entries = 0;
    std::chrono::nanoseconds since_start{0};
    bool ended = false;  // the last call, if there was one before
  };
  using Show = std::function<void(const Seen& seen)>;
  using Clock = std::function<std::chrono::nanoseconds()>;

  // While it lives, listings on this thread show their progress so.
  class Scope {
   public:
    // `clock` is replaceable in tests.
    explicit Scope(Show show, Clock clock = nullptr);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    friend class ListingProgress;
    const Show show_;
    const Clock clock_;
    const Scope* const outer_;
  };

  explicit ListingProgress(std::string folder);
  ListingProgress(const ListingProgress&) = delete;

  // Counts entries of one page.
  void Add(int64_t entries);
  // The listing is whole: says so, if anything was shown.
  void End();

 private:
  void ShowSeen(bool ended);

  const Scope* const scope_;  // null: nobody waits
  std::chrono::nanoseconds begun_{0};
  std::chrono::nanoseconds next_{0};
  bool shown_ = false;
  Seen seen_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_LISTING_PROGRESS_H_
