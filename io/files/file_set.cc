#include "io/files/file_set.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/output_stream.h"

namespace headrace {
namespace {

// Whether the file still has its draft; false: it has its name already.
absl::StatusOr<bool> HasDraft(const FileSystem& files, const OutputOptions& options, const SetFile& file) {
  const absl::StatusOr<std::unique_ptr<OutputStream>> draft = files.Resume(file.path, options, file.bytes);
  if (draft.ok()) {
    HEADRACE_RETURN_IF_ERROR((*draft)->Keep());
    return true;
  }
  if (KindOf(draft.status()) != ErrorKind::kNotFound) return draft.status();
  const absl::StatusOr<FileStat> named = files.Stat(file.path);
  if (named.ok() && named->type == EntryType::kFile && named->size == file.bytes) return false;
  return DataError(file.path, ": neither its draft nor the file of ", file.bytes,
                   " bytes is there; write the set anew");
}

absl::Status CommitDraft(const FileSystem& files, const OutputOptions& options, const SetFile& file) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<OutputStream> draft, files.Resume(file.path, options, file.bytes));
  absl::Status committed = draft->Commit();
  // For another try.
  if (!committed.ok()) draft->Keep().IgnoreError();
  return committed;
}

}  // namespace

absl::Status CommitSet(const FileSystem& files, const std::string& draft, absl::Span<const SetFile> set) {
  OutputOptions options;
  options.draft = draft;
  std::vector<const SetFile*> drafts;
  // All are looked at before anything is removed.
  for (const SetFile& file : set) {
    HEADRACE_ASSIGN_OR_RETURN(const bool has_draft, HasDraft(files, options, file));
    if (has_draft) drafts.push_back(&file);
  }
  for (auto file = drafts.rbegin(); file != drafts.rend(); ++file) {
    // The first file replaces the old one, which is alone by then.
    if (*file != set.data()) HEADRACE_RETURN_IF_ERROR(files.Remove((*file)->path));
  }
  for (const SetFile* file : drafts) HEADRACE_RETURN_IF_ERROR(CommitDraft(files, options, *file));
  return absl::OkStatus();
}

}  // namespace headrace
