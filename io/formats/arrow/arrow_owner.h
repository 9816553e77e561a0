// `ArrowOwner` owns one struct of the Arrow C interfaces that was moved out of where its producer put it, and releases
// it once. `HeldArrow` is an array with what keeps its memory: where a producer may only be released on certain
// threads, an `ArrowKeeper` says how. Threads: an owner belongs to one thread at a time; a held array may be read and
// let go on any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_OWNER_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_OWNER_H_

#include <functional>
#include <memory>
#include <utility>

#include "io/formats/arrow/c_data.h"

namespace headrace {

template <typename Struct>
class ArrowOwner {
 public:
  ArrowOwner() = default;
  // Moves the struct, which is released in its place from here on, as the interface asks for.
  static ArrowOwner Take(Struct& given) {
    ArrowOwner owner;
    owner.held_ = std::exchange(given, Struct{});
    return owner;
  }
  ArrowOwner(ArrowOwner&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  ArrowOwner& operator=(ArrowOwner&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ArrowOwner() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  // Whether there is a struct, and not one that was released.
  explicit operator bool() const { return held_.release != nullptr; }
  const Struct& operator*() const { return held_; }
  const Struct* operator->() const { return &held_; }
  // For a producer that fills it.
  Struct* get() { return &held_; }

 private:
  Struct held_ = {};
};

using HeldArrow = std::shared_ptr<const ArrowArray>;
// Takes over an array and says what keeps it.
using ArrowKeeper = std::function<HeldArrow(ArrowOwner<ArrowArray>)>;

// Releases on the thread that lets go last.
inline HeldArrow KeepArrow(ArrowOwner<ArrowArray> array) {
  auto owner = std::make_shared<ArrowOwner<ArrowArray>>(std::move(array));
  const ArrowArray* const held = owner->get();
  return {std::move(owner), held};
}

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_OWNER_H_
