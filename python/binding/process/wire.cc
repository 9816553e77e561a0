#include "python/binding/process/wire.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "core/error.h"

namespace headrace::python {
namespace {

constexpr uint64_t kMostAxes = 64;

size_t Aligned(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }

}  // namespace

uint8_t* WireWriter::Room(size_t bytes, size_t alignment) {
  const size_t from = Aligned(at_, alignment);
  if (status_.ok()) status_ = memory_.Grow(from + std::max<size_t>(bytes, 1));
  if (!status_.ok()) return nullptr;
  at_ = from + bytes;
  return memory_.data() + from;
}

void WireWriter::Number(uint64_t number) {
  if (uint8_t* const room = Room(sizeof(number), sizeof(number))) std::memcpy(room, &number, sizeof(number));
}

void WireWriter::Text(std::string_view text) {
  Number(text.size());
  if (uint8_t* const room = Room(text.size(), 1)) std::memcpy(room, text.data(), text.size());
}

void WireWriter::Put(const Tensor& tensor) {
  Number(static_cast<uint64_t>(tensor.dtype()));
  Number(static_cast<uint64_t>(tensor.rank()));
  for (const int64_t dimension : tensor.shape()) Number(static_cast<uint64_t>(dimension));
  if (IsVariableLength(tensor.dtype())) {
    const int64_t elements = tensor.elements();
    for (int64_t i = 0; i < elements; ++i) Text(tensor.bytes_at(i));
    return;
  }
  if (uint8_t* const room = Room(tensor.bytes(), kBufferAlignment)) tensor.CopyTo(room);
}

void WireWriter::Put(const absl::Status& error) {
  Number(static_cast<uint64_t>(error.raw_code()));
  Text(std::string_view(error.message().data(), error.message().size()));
  std::vector<std::pair<std::string, std::string>> fields;
  error.ForEachPayload([&fields](absl::string_view name, const absl::Cord& value) {
    fields.emplace_back(std::string(name), std::string(value));
  });
  Number(fields.size());
  for (const auto& [name, value] : fields) {
    Text(name);
    Text(value);
  }
}

const uint8_t* WireReader::Take(size_t bytes, size_t alignment) {
  const size_t from = Aligned(at_, alignment);
  if (status_.ok() && (from > bytes_ || bytes > bytes_ - from)) {
    status_ = InternalError("a process wrote ", bytes_, " bytes, which end within a value");
  }
  if (!status_.ok()) return nullptr;
  at_ = from + bytes;
  return mapping_->data() + from;
}

uint64_t WireReader::Number() {
  uint64_t number = 0;
  if (const uint8_t* const found = Take(sizeof(number), sizeof(number))) std::memcpy(&number, found, sizeof(number));
  return number;
}

std::string_view WireReader::Text() {
  const uint64_t size = Number();
  const uint8_t* const found = Take(size, 1);
  return found == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(found), size);
}

WireReader::Header WireReader::ReadHeader() {
  Header header;
  header.dtype = static_cast<DType>(Number());
  const uint64_t axes = Number();
  if (axes > kMostAxes && status_.ok()) status_ = InternalError("a process wrote a tensor of ", axes, " axes");
  for (uint64_t axis = 0; axis < axes && status_.ok(); ++axis) header.shape.push_back(static_cast<int64_t>(Number()));
  return header;
}

absl::StatusOr<Tensor> WireReader::CopyStrings(const Header& header) {
  std::vector<std::string_view> elements;
  const int64_t count = ElementCount(header.shape);
  for (int64_t i = 0; i < count && status_.ok(); ++i) elements.push_back(Text());
  HEADRACE_RETURN_IF_ERROR(status_);
  if (header.shape.empty()) return Tensor::CopyBytes(header.dtype, elements[0]);
  return Tensor::CopyBytesArray(header.dtype, header.shape, elements);
}

Tensor WireReader::View() {
  const Header header = ReadHeader();
  if (IsVariableLength(header.dtype)) {
    absl::StatusOr<Tensor> copy = CopyStrings(header);
    if (copy.ok()) return *std::move(copy);
    if (status_.ok()) status_ = copy.status();
    return {};
  }
  const size_t bytes = static_cast<size_t>(ElementCount(header.shape)) * ItemSize(header.dtype);
  const uint8_t* const found = Take(bytes, kBufferAlignment);
  if (found == nullptr) return {};
  BufferRef buffer = BufferRef::Foreign(const_cast<uint8_t*>(found), bytes, [keep = mapping_] {});
  return Tensor::View(header.dtype, header.shape, std::move(buffer), found);
}

absl::StatusOr<Tensor> WireReader::Copy(OutputAllocator& output) {
  const Header header = ReadHeader();
  HEADRACE_RETURN_IF_ERROR(status_);
  if (IsVariableLength(header.dtype)) return CopyStrings(header);
  const size_t bytes = static_cast<size_t>(ElementCount(header.shape)) * ItemSize(header.dtype);
  const uint8_t* const found = Take(bytes, kBufferAlignment);
  HEADRACE_RETURN_IF_ERROR(status_);
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, output.Allocate(header.dtype, header.shape));
  if (bytes > 0) std::memcpy(tensor.mutable_raw(), found, bytes);
  return tensor;
}

absl::Status WireReader::Error() {
  const auto code = static_cast<absl::StatusCode>(Number());
  const std::string_view message = Text();
  absl::Status error(code, absl::string_view(message.data(), message.size()));
  const uint64_t fields = Number();
  for (uint64_t i = 0; i < fields && status_.ok(); ++i) {
    const std::string_view name = Text();
    const std::string_view value = Text();
    error.SetPayload(absl::string_view(name.data(), name.size()),
                     absl::Cord(absl::string_view(value.data(), value.size())));
  }
  return status_.ok() ? error : status_;
}

}  // namespace headrace::python
