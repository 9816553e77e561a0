// `MixtureTable` holds the inputs of the draws of an epoch, and how often each was drawn before a draw. It takes a byte
// a draw, or two for more than 256 inputs, and at most one more for the counts before every so many draws.
// Threads: immutable once all draws are added; any thread.
#ifndef HEADRACE_OPS_MIX_MIXTURE_TABLE_H_
#define HEADRACE_OPS_MIX_MIXTURE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace headrace {

class MixtureTable {
 public:
  // Inputs of a table: the numbers below it.
  static constexpr size_t kMostInputs = size_t{1} << 16;

  explicit MixtureTable(size_t inputs);

  // The bytes of a table of so many draws.
  static uint64_t BytesOf(size_t inputs, uint64_t draws);

  void Add(size_t input);
  // Once all are added.
  void ShrinkToFit();

  struct DrawnInput {
    size_t input;
    uint64_t earlier;  // draws of that input before
  };
  // The input of draw `draw`; draw < size().
  DrawnInput At(uint64_t draw) const;

  uint64_t size() const { return size_; }
  size_t bytes() const;

 private:
  static uint64_t IntervalOf(size_t inputs);

  const size_t inputs_;
  const uint64_t interval_;
  std::variant<std::vector<uint8_t>, std::vector<uint16_t>> drawn_;
  std::vector<uint64_t> counts_;  // of every input, before each draw that begins an interval
  std::vector<uint64_t> now_;     // of every input, before the next draw
  uint64_t size_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_MIX_MIXTURE_TABLE_H_
