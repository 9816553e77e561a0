#include "io/files/file_system.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "core/hash.h"
#include "io/files/output_stream.h"

namespace headrace {
namespace {

// Where no budget is given: the default of iterate(memory=).
constexpr int64_t kUsualBudget = int64_t{2} << 30;

int64_t BudgetHere() {
  const int64_t budget = TaskMemory::Budget();
  return budget == MemoryAccount::kNoBudget ? kUsualBudget : budget;
}

bool IsMostlyHoles(int64_t size, int64_t held) { return held < size / 2; }

absl::Status HolesError(std::string_view path, int64_t bytes, int64_t size, int64_t held) {
  return DataError(path, ": ", bytes, " bytes of it are more than the budget of ", BudgetHere(), " bytes, and of its ",
                   size, " bytes the disk holds only ", held,
                   ": most of it is a hole; if the file is meant, set memory= to more");
}

absl::Status NotWrittenError(const std::string& path) {
  return UnsupportedError(path, ": this file system cannot be written to; write to a file of this machine");
}

}  // namespace

uint64_t VersionHash(std::string_view version) {
  if (version.empty()) return 0;
  const uint64_t hash = HashBytes(version);
  return hash == 0 ? 1 : hash;
}

absl::StatusOr<std::shared_ptr<const RandomAccessFile>> FileSystem::Open(const std::string& path,
                                                                         const ListedFile& /*listed*/) const {
  return Open(path);
}

void FileSystem::StartRead(const std::string& path, const ListedFile& /*listed*/, ReadDone done) const {
  done(Read(path));
}

absl::StatusOr<std::unique_ptr<OutputStream>> FileSystem::Create(const std::string& path,
                                                                 const OutputOptions& /*options*/) const {
  return NotWrittenError(path);
}

absl::StatusOr<std::unique_ptr<OutputStream>> FileSystem::Resume(const std::string& path,
                                                                 const OutputOptions& /*options*/,
                                                                 int64_t /*bytes*/) const {
  return NotWrittenError(path);
}

absl::Status FileSystem::Remove(const std::string& path) const { return NotWrittenError(path); }

absl::Status FileSystem::Write(const std::string& path, absl::Span<const std::string_view> parts) const {
  return Write(path, parts, OutputOptions());
}

absl::Status FileSystem::Write(const std::string& path, absl::Span<const std::string_view> parts,
                               const OutputOptions& options) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<OutputStream> stream, Create(path, options));
  HEADRACE_RETURN_IF_ERROR(stream->Append(parts));
  return stream->Commit();
}

absl::StatusOr<std::vector<FolderEntry>> FileSystem::List(const std::string& folder, bool sizes) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages, ListPages(folder, sizes));
  std::vector<FolderEntry> entries;
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<FolderEntry> page, pages->Next());
    if (page.empty()) return entries;
    if (entries.empty()) {
      entries = std::move(page);
    } else {
      entries.insert(entries.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
    }
  }
}

absl::StatusOr<Tensor> FileSystem::ReadRange(const std::string& path, int64_t offset, int64_t bytes) const {
  if (offset < 0 || bytes < 0) {
    return InternalError(path, ": a range cannot begin at ", offset, " and hold ", bytes, " bytes");
  }
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file, Open(path));
  const auto ends = [&](int64_t end) {
    return DataError(path, " ends at byte ", end, ", but ", bytes, " bytes from byte ", offset, " on were asked for");
  };
  // Before memory is taken: rows may ask for any number.
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (bytes > std::max<int64_t>(0, size - offset)) return ends(size);
  HEADRACE_RETURN_IF_ERROR(CheckHeld(path, *file, bytes));
  BufferRef buffer = BufferPool::Current().Allocate(bytes);
  if (!buffer) return ResourceError("no memory for ", bytes, " bytes of ", path);
  uint8_t* data = buffer->data();
  HEADRACE_ASSIGN_OR_RETURN(const int64_t read, file->ReadAt(offset, absl::MakeSpan(data, bytes)));
  if (read < bytes) return ends(offset + read);
  return Tensor::ViewBytes(DType::kBytes, std::move(buffer), data, bytes);
}

absl::Status CheckNoNul(std::string_view what, std::string_view path) {
  if (path.find('\0') == std::string_view::npos) return absl::OkStatus();
  std::string shown;
  for (const char letter : path) {
    if (letter == '\0') {
      shown += "\\0";
    } else {
      shown += letter;
    }
  }
  return GraphError(what, " '", shown, "' contains a NUL character, which paths cannot; remove it");
}

absl::Status SizeChangedError(std::string_view path, int64_t before, int64_t after) {
  return DataError(path, " was written to while it was read: it had ", before, " bytes, and then ", after,
                   "; write files under another name, and rename them when they are whole");
}

absl::Status CheckHeld(std::string_view path, const RandomAccessFile& file, int64_t bytes) {
  if (bytes <= BudgetHere()) return absl::OkStatus();
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  HEADRACE_ASSIGN_OR_RETURN(const int64_t held, file.HeldBytes());
  return IsMostlyHoles(size, held) ? HolesError(path, bytes, size, held) : absl::OkStatus();
}

absl::Status CheckHeld(std::string_view path, int64_t size, int64_t held) {
  if (size <= BudgetHere() || !IsMostlyHoles(size, held)) return absl::OkStatus();
  return HolesError(path, size, size, held);
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  if (folder.empty() || folder.back() == '/') return Cat(folder, name);
  return Cat(folder, "/", name);
}

}  // namespace headrace
