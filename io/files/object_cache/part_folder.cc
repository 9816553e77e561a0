#include "io/files/object_cache/part_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/stop_signal.h"
#include "io/files/local_files.h"
#include "io/files/opened_file.h"
#include "io/files/output_stream.h"

namespace headrace::object_cache {
namespace {

// Files of another format are in another folder.
constexpr std::string_view kFolder = "objects-1";
constexpr std::string_view kLedgerName = "bytes";
constexpr std::string_view kDraftEnd = ".draft";
constexpr uint64_t kLedgerMagic = 0x314c6a626f727248;  // "HrrobjL1"
// What a removal leaves, so that it comes seldom.
constexpr double kFilled = 0.9;
// How long a writer waits for the ledger; then the part is not kept.
constexpr int kLedgerTries = 20;
constexpr std::chrono::milliseconds kLedgerWait{1};
constexpr size_t kHexDigits = 16;
constexpr int kFolders = 256;
constexpr mode_t kOwnFile = 0600;

struct LedgerBytes {
  uint64_t magic = kLedgerMagic;
  int64_t bytes = 0;
  uint64_t checksum = 0;
};

uint64_t ChecksumOf(int64_t bytes) { return HashBytes({reinterpret_cast<const char*>(&bytes), sizeof(bytes)}); }

std::string FolderOf(uint64_t high) {
  constexpr int kTopByte = 56;
  return Cat(absl::Hex(high >> kTopByte, absl::kZeroPad2));
}

template <typename Number>
bool ParseAll(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

// "0123456789abcdef0123456789abcdef.4096": both hashes, and the bytes of the file.
bool ParseName(std::string_view name, uint64_t& high, uint64_t& low, int64_t& bytes) {
  if (name.size() < 2 * kHexDigits + 2 || name[2 * kHexDigits] != '.') return false;
  return ParseAll(name.substr(0, kHexDigits), kHexDigits, high) &&
         ParseAll(name.substr(kHexDigits, kHexDigits), kHexDigits, low) &&
         ParseAll(name.substr(2 * kHexDigits + 1), 10, bytes) && bytes >= 0;
}

int64_t NowSince1970() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count();
}

std::string_view TextOf(absl::Span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<PartFolder>> PartFolder::Open(const FileSystem& files, const std::string& folder,
                                                             const Options& options) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("object_cache", folder));
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, files.Locate(folder));
  const LocalFiles* const disk = located.files->local();
  if (disk == nullptr) {
    return UnsupportedError("object_cache: ", folder,
                            ": several processes write to such a folder, which only files of this machine allow");
  }
  const std::string root = JoinPath(located.path, kFolder);
  HEADRACE_RETURN_IF_ERROR(disk->MakeOwnFolder(root));
  std::unique_ptr<PartFolder> made(new PartFolder(disk, root, options));
  made->limit_ = options.limit;
  if (options.limit <= 0) {
    std::error_code error;
    const auto space = std::filesystem::space(root, error);
    const std::optional<Contents> contents = made->LookThrough();
    if (!contents.has_value()) return StopSignal::Error();
    made->limit_ = contents->bytes + (error ? 0 : static_cast<int64_t>(space.available / 2));
  }
  return made;
}

std::string PartFolder::PathOf(const Kept& part) const {
  return Cat(root_, "/", FolderOf(part.high), "/", absl::Hex(part.high, absl::kZeroPad16),
             absl::Hex(part.low, absl::kZeroPad16), ".", part.bytes);
}

std::string PartFolder::PathOf(const PartKey& key) const {
  return PathOf(Kept{0, PartFileBytes(key), key.high, key.low});
}

std::optional<PartFile> PartFolder::Find(const PartKey& key) const {
  const std::string path = PathOf(key);
  // Not by Open, whose error would look for the nearest name in the folder.
  const auto stat = disk_->Stat(path);
  if (!stat.ok()) return std::nullopt;
  auto file = disk_->Open(path);
  if (!file.ok()) return std::nullopt;
  std::optional<PartFile> part = PartFile::Begin(*std::move(file), key);
  const bool note = part.has_value() && NowSince1970() - stat->changed_ns >= options_.noted_ns;
  if (note) disk_->Touch(path).IgnoreError();
  return part;
}

void PartFolder::Drop(const PartKey& key) const { disk_->Remove(PathOf(key)).IgnoreError(); }

bool PartFolder::Store(const PartKey& key, absl::Span<const uint8_t> bytes) {
  if (stopped_.load(std::memory_order_relaxed) || PartFileBytes(key) > limit_) return false;
  const std::string path = PathOf(key);
  if (Find(key).has_value()) return true;
  const absl::Status written = WriteFile(path, key, bytes);
  if (written.ok()) return true;
  if (KindOf(written) != ErrorKind::kUnsupported && KindOf(written) != ErrorKind::kClosed) Stop(written);
  return false;
}

absl::Status PartFolder::WriteFile(const std::string& path, const PartKey& key, absl::Span<const uint8_t> bytes) {
  const OutputOptions options{.draft = std::string(kDraftEnd), .own = true, .durable = false};
  auto stream = disk_->Create(path, options);
  if (!stream.ok() && KindOf(stream.status()) == ErrorKind::kNotFound) {
    HEADRACE_RETURN_IF_ERROR(disk_->MakeOwnFolder(JoinPath(root_, FolderOf(key.high))));
    stream = disk_->Create(path, options);
  }
  HEADRACE_RETURN_IF_ERROR(stream.status());
  // After the draft is there: whoever looks through the folder meanwhile counts it, or else the ledger it writes does
  // not stand yet.
  if (!Reserve(PartFileBytes(key))) return MakeError(ErrorKind::kUnsupported, "there is no room for it");
  const std::string head = PartFileHead(key, bytes);
  HEADRACE_RETURN_IF_ERROR((*stream)->Append({head, TextOf(bytes)}));
  return (*stream)->Commit();
}

void PartFolder::Stop(const absl::Status& error) {
  const std::lock_guard<std::mutex> lock(problem_mutex_);
  if (!stopped_.exchange(true)) problem_ = std::string(error.message());
}

std::string PartFolder::problem() const {
  const std::lock_guard<std::mutex> lock(problem_mutex_);
  return problem_;
}

bool PartFolder::Reserve(int64_t bytes) {
  for (int i = 0; i < kLedgerTries; ++i) {
    const std::unique_lock<std::mutex> lock(ledger_mutex_, std::try_to_lock);
    if (lock.owns_lock()) return ReserveLocked(bytes);
    std::this_thread::sleep_for(kLedgerWait);
  }
  return false;
}

bool PartFolder::ReserveLocked(int64_t bytes) {
  Ledger ledger;
  for (int i = 0; i < kLedgerTries; ++i) {
    ledger = OpenLedger();
    if (ledger != nullptr) break;
    std::this_thread::sleep_for(kLedgerWait);
  }
  if (ledger == nullptr) return false;
  std::optional<int64_t> held = ReadLedger(ledger);
  if (!held.has_value() || bytes > limit_ - *held) held = MakeRoom(bytes);
  if (!held.has_value()) return false;
  const bool fits = bytes <= limit_ - *held;
  return WriteLedger(ledger, *held + (fits ? bytes : 0)) && fits;
}

// Null: another process has it.
PartFolder::Ledger PartFolder::OpenLedger() const {
  const std::string path = JoinPath(root_, kLedgerName);
  auto ledger = disk_->OpenLocked(path);
  if (!ledger.ok() && !disk_->Stat(path).ok()) {
    // Only one process makes it, whoever tries.
    disk_->MakeOwnFolder(root_).IgnoreError();
    MakeFile(path, kOwnFile);
    ledger = disk_->OpenLocked(path);
  }
  return ledger.ok() ? *std::move(ledger) : nullptr;
}

std::optional<int64_t> PartFolder::ReadLedger(const Ledger& ledger) const {
  LedgerBytes found;
  const auto read = ledger->ReadAt(0, absl::MakeSpan(reinterpret_cast<uint8_t*>(&found), sizeof(found)));
  const bool good = read.ok() && *read == sizeof(found) && found.magic == kLedgerMagic && found.bytes >= 0 &&
                    found.checksum == ChecksumOf(found.bytes);
  return good ? std::optional<int64_t>(found.bytes) : std::nullopt;
}

bool PartFolder::WriteLedger(const Ledger& ledger, int64_t bytes) const {
  const LedgerBytes written{kLedgerMagic, bytes, ChecksumOf(bytes)};
  return ledger->WriteAt(0, {reinterpret_cast<const uint8_t*>(&written), sizeof(written)}).ok();
}

std::optional<int64_t> PartFolder::MakeRoom(int64_t wanted) const {
  std::optional<Contents> contents = LookThrough();
  if (!contents.has_value()) return std::nullopt;
  // The draft of what is wanted is there, and was counted.
  contents->bytes = std::max<int64_t>(0, contents->bytes - wanted);
  if (wanted <= limit_ - contents->bytes) return contents->bytes;
  std::sort(contents->parts.begin(), contents->parts.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.used_ns, a.high, a.low) < std::tie(b.used_ns, b.high, b.low);
  });
  const int64_t left = std::max<int64_t>(0, static_cast<int64_t>(kFilled * static_cast<double>(limit_)) - wanted);
  for (const Kept& part : contents->parts) {
    if (contents->bytes <= left) break;
    if (disk_->Remove(PathOf(part)).ok()) contents->bytes -= part.bytes;
  }
  return contents->bytes;
}

std::optional<PartFolder::Contents> PartFolder::LookThrough() const {
  constexpr int kTopByte = 56;
  Contents contents;
  for (int i = 0; i < kFolders; ++i) {
    if (StopSignal::Raised()) return std::nullopt;
    if (!LookThroughOne(JoinPath(root_, FolderOf(static_cast<uint64_t>(i) << kTopByte)), contents)) return std::nullopt;
  }
  return contents;
}

bool PartFolder::LookThroughOne(const std::string& folder, Contents& contents) const {
  const auto pages = disk_->ListPages(folder, false);
  if (!pages.ok()) return KindOf(pages.status()) == ErrorKind::kNotFound;
  while (true) {
    const auto page = (*pages)->Next();
    if (!page.ok()) return false;
    if (page->empty()) return true;
    for (const FolderEntry& entry : *page) {
      if (entry.type == EntryType::kFile && !entry.link) LookAt(folder, entry.name, contents);
    }
  }
}

void PartFolder::LookAt(const std::string& folder, std::string_view name, Contents& contents) const {
  const std::string path = JoinPath(folder, name);
  const bool draft = name.ends_with(kDraftEnd);
  Kept part;
  if (!ParseName(draft ? name.substr(0, name.size() - kDraftEnd.size()) : name, part.high, part.low, part.bytes))
    return;
  if (draft) {
    // The lock is held until the draft is removed: another process may want to write the same part.
    if (const auto left = disk_->OpenLocked(path); left.ok()) {
      // Its writer was killed.
      disk_->Remove(path).IgnoreError();
      return;
    }
  }
  if (!draft) {
    const auto stat = disk_->Stat(path);
    if (!stat.ok() || path != PathOf(part) || stat->size != part.bytes) return;
    part.used_ns = stat->changed_ns;
    contents.parts.push_back(part);
  }
  // A draft counts as what it will be.
  contents.bytes += std::min(part.bytes, std::numeric_limits<int64_t>::max() / 2 - contents.bytes);
}

}  // namespace headrace::object_cache
