#include "io/files/hdfs/hdfs_file.h"

#include <algorithm>
#include <utility>

#include "core/buffer.h"
#include "core/error.h"
#include "core/tensor.h"
#include "io/files/hdfs/span_read.h"

namespace headrace::hdfs {
namespace {

FileSpan SpanOf(const KnownFile& file, int64_t offset, absl::Span<uint8_t> target) {
  return {.name = file.name, .path = file.path, .block_size = file.block_size, .offset = offset, .target = target};
}

absl::Status NegativeOffset(const KnownFile& file, int64_t offset) {
  return InternalError(file.name, ": a read cannot begin at byte ", offset);
}

}  // namespace

absl::Status CheckUnchanged(const KnownFile& file, const absl::StatusOr<HdfsStatus>& now) {
  if (!now.ok() && KindOf(now.status()) != ErrorKind::kNotFound) return now.status();
  const std::string changed = Cat(file.name, " changed since it was listed");
  if (!now.ok()) return DataError(changed, ": it is not there any more; list the files again");
  if (now->type == EntryType::kFile && now->size == file.size && VersionHash(VersionOf(*now)) == file.version) {
    return absl::OkStatus();
  }
  return DataError(changed, ": it had ", file.size, " bytes, and has ", now->size,
                   " now, or was written anew; write files under another name, and list them again");
}

absl::Span<uint8_t> HdfsFile::Within(int64_t offset, absl::Span<uint8_t> target) const {
  const int64_t left = std::max<int64_t>(0, file_.size - offset);
  return target.subspan(0, std::min(target.size(), static_cast<size_t>(left)));
}

absl::StatusOr<int64_t> HdfsFile::ReadAt(int64_t offset, absl::Span<uint8_t> target) const {
  if (offset < 0) return NegativeOffset(file_, offset);
  const absl::Span<uint8_t> within = Within(offset, target);
  HEADRACE_RETURN_IF_ERROR(RunSpanRead(*client_, SpanOf(file_, offset, within)));
  if (!is_compared()) {
    HEADRACE_RETURN_IF_ERROR(CheckUnchanged(file_, client_->Status(file_.name, file_.path)));
    compared_.store(true, std::memory_order_relaxed);
  }
  return static_cast<int64_t>(within.size());
}

void HdfsFile::StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const {
  if (offset < 0) return done(NegativeOffset(file_, offset));
  const absl::Span<uint8_t> within = Within(offset, target);
  const auto bytes = static_cast<int64_t>(within.size());
  const HdfsClient::EndedBy by = Cancellation::Current();
  StartSpanRead(
      *client_, SpanOf(file_, offset, within), by, [this, by, bytes, done = std::move(done)](const absl::Status& read) {
        if (!read.ok()) return done(read);
        if (is_compared()) return done(bytes);
        client_->StartStatus(file_.name, file_.path, by, [this, bytes, done](const absl::StatusOr<HdfsStatus>& now) {
          absl::Status unchanged = CheckUnchanged(file_, now);
          if (!unchanged.ok()) return done(std::move(unchanged));
          compared_.store(true, std::memory_order_relaxed);
          done(bytes);
        });
      });
}

void StartHdfsRead(HdfsClient* client, KnownFile file, FileSystem::ReadDone done) {
  const auto size = static_cast<size_t>(file.size);
  BufferRef buffer = BufferPool::Current().Allocate(size);
  if (!buffer) return done(ResourceError("no memory for ", file.name, " (", size, " bytes)"));
  const absl::Span<uint8_t> target(buffer->data(), size);
  const FileSpan span = SpanOf(file, 0, target);
  const HdfsClient::EndedBy by = Cancellation::Current();
  StartSpanRead(*client, span, by, [=, file = std::move(file)](const absl::Status& read) {
    if (!read.ok()) return done(read);
    const auto give = [=] { done(Tensor::ViewBytes(DType::kBytes, buffer, buffer->data(), size)); };
    if (file.version == 0) return give();
    client->StartStatus(file.name, file.path, by, [=](const absl::StatusOr<HdfsStatus>& now) {
      absl::Status unchanged = CheckUnchanged(file, now);
      if (!unchanged.ok()) return done(std::move(unchanged));
      give();
    });
  });
}

}  // namespace headrace::hdfs
