#include "ir/message_bytes.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/varint.h"

namespace headrace::ir {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;

Wire::WireType WireTypeOf(const FieldSchema& field) {
  switch (field.type) {
    case FieldType::kDouble:
      return Wire::WIRETYPE_FIXED64;
    case FieldType::kString:
    case FieldType::kMessage:
      return Wire::WIRETYPE_LENGTH_DELIMITED;
    default:
      return Wire::WIRETYPE_VARINT;
  }
}

bool ReadNumber(pb::io::CodedInputStream& stream, Wire::WireType type, uint64_t& number) {
  return type == Wire::WIRETYPE_FIXED64 ? stream.ReadLittleEndian64(&number) : stream.ReadVarint64(&number);
}

pb::io::CodedInputStream StreamOf(std::string_view bytes) {
  return pb::io::CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
}

}  // namespace

bool MessageReader::Next() {
  while (packed_.empty()) {
    if (!ReadField()) return false;
    if (!listed_) return true;
  }
  pb::io::CodedInputStream stream = StreamOf(packed_);
  const bool read = ReadNumber(stream, WireTypeOf(*field_), value_.number);
  packed_.remove_prefix(static_cast<size_t>(stream.CurrentPosition()));
  return read;
}

bool MessageReader::ReadField() {
  pb::io::CodedInputStream stream = StreamOf(rest_);
  const uint32_t tag = stream.ReadTag();
  if (tag == 0) return false;
  number_ = tag >> 3;
  field_ = schema_.Find(number_);
  const Wire::WireType type = Wire::GetTagWireType(tag);
  const Wire::WireType expected = field_ == nullptr ? type : WireTypeOf(*field_);
  const bool bytes = type == Wire::WIRETYPE_LENGTH_DELIMITED;
  const bool packed = field_ != nullptr && field_->repeated && type != expected && bytes;
  if (type != expected && !packed) field_ = nullptr;
  listed_ = packed;
  bool read = false;
  if (field_ == nullptr) {
    read = Wire::SkipField(&stream, tag);
  } else if (bytes) {
    uint64_t size = 0;
    read = stream.ReadVarint64(&size);
    (packed ? packed_ : value_.bytes) = rest_.substr(static_cast<size_t>(stream.CurrentPosition()), size);
    read = read && stream.Skip(static_cast<int>(size));
  } else {
    read = ReadNumber(stream, type, value_.number);
  }
  rest_.remove_prefix(static_cast<size_t>(stream.CurrentPosition()));
  return read;
}

void MessageWriter::PutNumber(const FieldSchema& field, uint64_t number) {
  const Wire::WireType type = WireTypeOf(field);
  PutVarint(bytes_, field.number << 3 | type);
  if (type == Wire::WIRETYPE_VARINT) return PutVarint(bytes_, number);
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(number >> shift));
}

void MessageWriter::PutText(const FieldSchema& field, std::string_view text) {
  PutVarint(bytes_, field.number << 3 | Wire::WIRETYPE_LENGTH_DELIMITED);
  PutVarint(bytes_, text.size());
  bytes_ += text;
}

void MessageWriter::Begin(const FieldSchema& field) {
  PutVarint(bytes_, field.number << 3 | Wire::WIRETYPE_LENGTH_DELIMITED);
  open_.push_back({.length = lengths_.size(), .inserted = inserted_});
  lengths_.push_back({.at = bytes_.size(), .size = 0});
}

void MessageWriter::End() {
  const Open open = open_.back();
  open_.pop_back();
  Length& length = lengths_[open.length];
  length.size = bytes_.size() - length.at + inserted_ - open.inserted;
  inserted_ += VarintSize(length.size);
}

std::string MessageWriter::Take() const {
  std::string whole;
  whole.reserve(bytes_.size() + inserted_);
  size_t taken = 0;
  for (const Length& length : lengths_) {
    whole.append(bytes_, taken, length.at - taken);
    PutVarint(whole, length.size);
    taken = length.at;
  }
  return whole.append(bytes_, taken);
}

}  // namespace headrace::ir
