// `MdsIndex` is what the index.json of a folder of MDS shards says: the columns of the samples, and the files of the
// shards. Use it in MdsTable, which says where the samples are.
// Threads: a value and pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MDS_MDS_INDEX_H_
#define HEADRACE_IO_FORMATS_MDS_MDS_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/compressed/compression.h"

namespace headrace {

struct MdsColumn {
  static constexpr int64_t kVaries = -1;

  std::string name = {};
  std::string encoding = {};  // "ndarray:float32:3"
  int64_t bytes = kVaries;    // of each value

  friend bool operator==(const MdsColumn&, const MdsColumn&) = default;
};

// A shard in one of its two forms.
struct MdsFile {
  std::string name = {};  // in the folder; empty: it has no such form
  int64_t bytes = 0;
  // "sha1" and its hexadecimal text.
  std::vector<std::pair<std::string, std::string>> hashes = {};
};

struct MdsShard {
  MdsFile raw = {};
  MdsFile packed = {};
  std::string packing = {};  // "zstd:7"
  int64_t samples = 0;
};

struct MdsIndex {
  std::vector<MdsColumn> columns = {};  // those of all shards
  std::vector<MdsShard> shards = {};
};

inline constexpr char kMdsIndexName[] = "index.json";

// kData: the text is not such an index, names what is not below its folder, or its shards differ in their columns.
// kUnsupported: a format that is not MDS.
absl::StatusOr<MdsIndex> ParseMdsIndex(std::string_view text);
// Of a folder. Errors name its index.json.
absl::StatusOr<MdsIndex> ReadMdsIndex(const FileSystem& files, const std::string& folder);

// How a shard is compressed, of the text of its index: "zstd:7". kUnsupported: in a way that is not read.
absl::StatusOr<Compression> CompressionOfMds(std::string_view packing);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_MDS_INDEX_H_
