// Fuzzes a log and its list, with correct checksums: records that are returned lie within the file.
// Input: the number of bytes of the list (u16), the list after its head's magic, name and checksum, and the log after
// its head; in the log, each record's magic and checksums are replaced by the correct ones.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/hash.h"
#include "core/testing/require.h"
#include "io/files/file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/records/crc32c.h"
#include "io/records/record_log.h"

namespace {

using headrace::Crc32c;

constexpr char kName[] = "a";
constexpr size_t kRecordHead = 32;
constexpr size_t kListHead = 40;
constexpr size_t kListEntry = 32;

template <typename T>
void Put(std::string& bytes, size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
}

template <typename T>
T Get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, &bytes[at], sizeof(value));
  return value;
}

std::string SealedLog(std::string_view records, std::set<uint64_t>& keys) {
  std::string log(16, '\0');
  Put(log, 0, uint64_t{0x31676f6c64727248});
  Put(log, 8, headrace::HashBytes(kName));
  log += records;
  for (size_t at = 16; at + kRecordHead <= log.size();) {
    const size_t left = log.size() - at - kRecordHead;
    const auto length = Get<uint64_t>(log, at + 16);
    keys.insert(Get<uint64_t>(log, at + 8));
    Put(log, at, uint32_t{0x63657248});
    if (length <= left) Put(log, at + 24, Crc32c(&log[at + kRecordHead], length));
    Put(log, at + 4, Crc32c(&log[at + 8], kRecordHead - 8));
    if (length > left) break;
    at += kRecordHead + length;
  }
  return log;
}

std::string SealedList(std::string list, std::set<uint64_t>& keys) {
  if (list.size() < kListHead) return list;
  Put(list, 0, uint64_t{0x317473696c647248});
  Put(list, 8, headrace::HashBytes(kName));
  const size_t entries = (list.size() - kListHead) / kListEntry;
  Put(list, 32, Crc32c(list.data() + kListHead, entries * kListEntry));
  for (size_t i = 0; i < entries; ++i) keys.insert(Get<uint64_t>(list, kListHead + i * kListEntry));
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t list_bytes = std::min<size_t>(input.size(), data[0] + 256 * data[1]);
  std::set<uint64_t> keys;
  const headrace::TemporaryFolder folder;
  folder.Write("x.list", SealedList(std::string(input.substr(0, list_bytes)), keys));
  const std::string log_bytes = SealedLog(input.substr(list_bytes), keys);
  folder.Write("x.rows", log_bytes);
  const auto log = headrace::RecordLog::Open(*headrace::LocalFileSystem(), folder.path(), kName);
  headrace::Require(log.ok(), "a folder with any files is opened");
  for (const uint64_t key : keys) {
    const std::optional<size_t> length = (*log)->Find(key);
    if (!length.has_value()) continue;
    headrace::Require(*length <= log_bytes.size(), "a record lies within its file");
    std::vector<uint8_t> bytes(*length);
    (*log)->Read(key, absl::MakeSpan(bytes));
  }
  return 0;
}
