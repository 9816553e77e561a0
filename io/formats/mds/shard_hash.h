// `CheckShardHash` compares a file with the hashes that an index of MDS shards has of it. It knows SHA-1 and XXH64,
// which the writer offers first.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MDS_SHARD_HASH_H_
#define HEADRACE_IO_FORMATS_MDS_SHARD_HASH_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "io/files/file_system.h"

namespace headrace {

// Hexadecimal.
std::string Sha1Of(std::string_view bytes);
std::string Xxh64Of(std::string_view bytes);

// `hashes`: names and hexadecimal texts. kData: one that is known differs. kUnsupported: none is known.
absl::Status CheckShardHash(const FileSystem& files, const std::string& path,
                            const std::vector<std::pair<std::string, std::string>>& hashes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MDS_SHARD_HASH_H_
