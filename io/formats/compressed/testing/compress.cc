#include "io/formats/compressed/testing/compress.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "core/testing/require.h"

namespace headrace {
namespace {

std::string CompressByZlib(std::string_view bytes, int window) {
  z_stream stream = {};
  const int begun = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  Require(begun == Z_OK, "zlib begins");
  std::string compressed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  Require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib compresses");
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

std::string CompressZstd(std::string_view bytes) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context, compressed.data(), compressed.size(), bytes.data(), bytes.size());
  Require(!ZSTD_isError(size), "libzstd compresses");
  compressed.resize(size);
  ZSTD_freeCCtx(context);
  return compressed;
}

std::string CompressBzip2(std::string_view bytes) {
  std::string compressed(bytes.size() + bytes.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(compressed.size());
  const int result = BZ2_bzBuffToBuffCompress(compressed.data(), &size, const_cast<char*>(bytes.data()),
                                              static_cast<unsigned>(bytes.size()), 1, 0, 0);
  Require(result == BZ_OK, "libbz2 compresses");
  compressed.resize(size);
  return compressed;
}

std::string CompressXz(std::string_view bytes) {
  std::string compressed(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  const lzma_ret result =
      lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(bytes.data()),
                              bytes.size(), reinterpret_cast<uint8_t*>(compressed.data()), &size, compressed.size());
  Require(result == LZMA_OK, "liblzma compresses");
  compressed.resize(size);
  return compressed;
}

}  // namespace

std::string Compress(Compression compression, std::string_view bytes) {
  switch (compression) {
    case Compression::kGzip:
      return CompressByZlib(bytes, 15 + 16);
    case Compression::kZlib:
      return CompressByZlib(bytes, 15);
    case Compression::kZstd:
      return CompressZstd(bytes);
    case Compression::kBzip2:
      return CompressBzip2(bytes);
    case Compression::kXz:
      return CompressXz(bytes);
    case Compression::kNone:
      break;
  }
  return std::string(bytes);
}

}  // namespace headrace
