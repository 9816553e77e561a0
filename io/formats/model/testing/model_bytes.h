// `OnnxBytes`, `SafetensorsBytes`, `ZipBytes` and `OpenVinoText` make small files of models for tests.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_MODEL_TESTING_MODEL_BYTES_H_
#define HEADRACE_IO_FORMATS_MODEL_TESTING_MODEL_BYTES_H_

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/varint.h"

namespace headrace::fixture {

using Texts = std::vector<std::pair<std::string, std::string>>;

// A field of bytes, or of a text, or of a message.
inline std::string BytesField(uint32_t number, std::string_view bytes) {
  std::string field;
  PutVarint(field, number << 3 | 2);
  PutVarint(field, bytes.size());
  field.append(bytes);
  return field;
}

inline std::string VarintField(uint32_t number, uint64_t value) {
  std::string field;
  PutVarint(field, number << 3);
  PutVarint(field, value);
  return field;
}

inline std::string OnnxProperty(std::string_view key, std::string_view value) {
  return BytesField(14, BytesField(1, key) + BytesField(2, value));
}

// The fields before the properties: ir_version, producer_name, graph and opset_import.
inline std::string OnnxHead(std::string_view weights = "weights") {
  return VarintField(1, 8) + BytesField(2, "test") + BytesField(7, BytesField(5, BytesField(9, weights))) +
         BytesField(8, BytesField(1, "") + VarintField(2, 17));
}

inline std::string OnnxBytes(const Texts& properties, std::string_view weights = "weights") {
  std::string bytes = OnnxHead(weights);
  for (const auto& [key, value] : properties) bytes += OnnxProperty(key, value);
  return bytes;
}

template <typename T>
std::string NumberBytes(T number) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &number, sizeof(T));
  return bytes;
}

// The header is padded to a multiple of 8.
inline std::string SafetensorsBytes(std::string header, std::string_view data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return NumberBytes<uint64_t>(header.size()) + header + std::string(data);
}

inline std::string Deflated(std::string_view bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct ZipFile {
  std::string name;
  std::string bytes;
  bool deflated = false;
};

inline std::string ZipBytes(const std::vector<ZipFile>& files) {
  std::string archive;
  std::string directory;
  for (const auto& [name, bytes, deflated] : files) {
    const std::string packed = deflated ? Deflated(bytes) : bytes;
    const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string numbers =
        NumberBytes<uint16_t>(deflated ? 8 : 0) + NumberBytes<uint32_t>(0) + NumberBytes(static_cast<uint32_t>(sum)) +
        NumberBytes(static_cast<uint32_t>(packed.size())) + NumberBytes(static_cast<uint32_t>(bytes.size())) +
        NumberBytes(static_cast<uint16_t>(name.size())) + NumberBytes<uint16_t>(0);
    directory += "PK\1\2" + NumberBytes<uint16_t>(20) + NumberBytes<uint16_t>(20) + NumberBytes<uint16_t>(0) + numbers +
                 NumberBytes<uint16_t>(0) + NumberBytes<uint16_t>(0) + NumberBytes<uint16_t>(0) +
                 NumberBytes<uint32_t>(0) + NumberBytes(static_cast<uint32_t>(archive.size())) + name;
    archive += "PK\3\4" + NumberBytes<uint16_t>(20) + NumberBytes<uint16_t>(0) + numbers + name + packed;
  }
  const auto count = static_cast<uint16_t>(files.size());
  const auto begin = static_cast<uint32_t>(archive.size());
  return archive + directory + "PK\5\6" + NumberBytes<uint32_t>(0) + NumberBytes(count) + NumberBytes(count) +
         NumberBytes(static_cast<uint32_t>(directory.size())) + NumberBytes(begin) + NumberBytes<uint16_t>(0);
}

inline std::string OpenVinoText(std::string_view framework) {
  return "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">\n\t<layers>\n\t\t<layer id=\"0\" name=\"x\">\n"
         "\t\t\t<rt_info><framework><a value=\"of a layer\"/></framework></rt_info>\n\t\t</layer>\n\t</layers>\n"
         "\t<rt_info>\n\t\t<Runtime_version value=\"1\" />\n\t\t<framework>\n" +
         std::string(framework) + "\n\t\t</framework>\n\t</rt_info>\n</net>\n";
}

}  // namespace headrace::fixture

#endif  // HEADRACE_IO_FORMATS_MODEL_TESTING_MODEL_BYTES_H_
