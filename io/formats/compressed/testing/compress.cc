#include "io/formats/compressed/testing/compress.h"

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

}  // namespace

std::string Compress(Compression compression, std::string_view bytes) {
  if (compression == Compression::kZstd) return CompressZstd(bytes);
  return CompressByZlib(bytes, compression == Compression::kGzip ? 15 + 16 : 15);
}

}  // namespace headrace
