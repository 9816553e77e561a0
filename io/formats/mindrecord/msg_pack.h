// `MsgPackReader` takes values of MessagePack off the front of some bytes. Use it for the scalars of a MindRecord row,
// one map of texts to single values. What it is not asked for it passes over, however deep that is nested.
// Threads: one thread; the values are views of the bytes.
#ifndef HEADRACE_IO_FORMATS_MINDRECORD_MSG_PACK_H_
#define HEADRACE_IO_FORMATS_MINDRECORD_MSG_PACK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

// One value of MessagePack. Of numbers the form in which they were written: which forms fit is up to the reader.
struct MsgPackValue {
  enum class Kind : uint8_t { kUnsigned, kNegative, kFloat32, kFloat64, kText, kOther };

  Kind kind = Kind::kOther;  // null, bools, bytes, lists, maps and extensions
  uint64_t whole = 0;        // of kUnsigned; of kNegative as two's complement
  float real32 = 0;
  double real64 = 0;
  std::string_view text = {};
};

class MsgPackReader {
 public:
  explicit MsgPackReader(std::string_view bytes) : bytes_(bytes) {}

  // Of the next byte, among all.
  size_t at() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  // The head of a map, with the number of its entries. False: there is none.
  bool TakeMap(uint32_t& entries);
  bool TakeText(std::string_view& text);
  // A whole value. False: the bytes end within it, or it begins with a byte that nothing begins with.
  bool Take(MsgPackValue& value);

 private:
  size_t left() const { return bytes_.size() - at_; }
  bool TakeByte(uint8_t& byte);
  // A number of so many bytes, the highest first.
  bool TakeNumber(size_t bytes, uint64_t& number);
  bool TakeBytes(uint64_t bytes, std::string_view& taken);
  bool TakeSized(size_t length_bytes, std::string_view& taken);
  bool TakeTagged(uint8_t tag, MsgPackValue& value, uint64_t& inside);
  bool TakeWhole(size_t bytes, bool is_signed, MsgPackValue& value);
  bool TakeReal(uint8_t tag, MsgPackValue& value);
  bool TakeInside(size_t length_bytes, uint64_t each, uint64_t& inside);
  bool PassExtension(uint64_t bytes);

  const std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MINDRECORD_MSG_PACK_H_
