#include "ops/source/parquet/parquet_files.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/far_of.h"
#include "ops/source/parquet/read_footers.h"

namespace headrace {
namespace {

absl::Status InParquetFile(absl::Status status, const std::string& path) {
  if (!status.ok()) AddErrorField(status, ErrorField::kFile, path);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ParquetGroupReader>> ParquetGroupReader::Open(OpenedParquet opened,
                                                                             const ParquetTable::Group& group) {
  std::unique_ptr<ParquetGroupReader> reader(new ParquetGroupReader(std::move(opened), group));
  const std::vector<std::string>& columns = reader->opened_.columns->read();
  if (columns.empty()) return reader;
  absl::StatusOr<std::unique_ptr<ParquetBatches>> batches = reader->opened_.file->Read(group.number, columns);
  if (!batches.ok()) return reader->OfGroup(batches.status());
  reader->batches_ = *std::move(batches);
  return reader;
}

absl::Status ParquetGroupReader::OfGroup(const absl::Status& error) const {
  return InParquetFile(Reworded(error, Cat("row group ", group_.number, ": ", ToStd(error.message()))), *opened_.path);
}

absl::StatusOr<ParquetRun> ParquetGroupReader::Next() {
  if (StopSignal::Raised()) return StopSignal::Error();
  ParquetRun run{at_, group_.rows - at_};
  if (batches_ != nullptr) {
    absl::StatusOr<ParquetRun> read = NextRead();
    if (!read.ok()) return OfGroup(read.status());
    run = *std::move(read);
  }
  at_ += run.rows;
  return run;
}

absl::StatusOr<ParquetRun> ParquetGroupReader::NextRead() {
  HEADRACE_ASSIGN_OR_RETURN(const HeldArrow array, batches_->Next());
  if (array == nullptr) {
    if (at_ == group_.rows) return ParquetRun{at_};
    return DataError("it ends after ", at_, " rows, and its footer says that it has ", group_.rows);
  }
  // Messages count rows as pyarrow does, from the first of the file.
  const uint64_t number = group_.first - opened_.first_row + at_;
  HEADRACE_ASSIGN_OR_RETURN(ArrowBatch batch, opened_.columns->Check(array, number, last_.get()));
  const auto rows = static_cast<uint64_t>(batch.rows());
  if (rows == 0 || rows > group_.rows - at_) {
    return DataError("it has other rows than the ", group_.rows, " that its footer says");
  }
  last_ = std::make_shared<const ArrowBatch>(std::move(batch));
  const size_t copied_bytes = opened_.columns->CopiedBytes(last_.get());
  return ParquetRun{at_, rows, last_, opened_.columns->BytesOf(*array), copied_bytes};
}

ParquetFiles::ParquetFiles(const FileSystem* files, const ParquetLibrary* library,
                           std::shared_ptr<const ParquetTable> table, ParquetFields fields)
    : files_(files), library_(library), table_(std::move(table)), fields_(std::move(fields)) {
  const FarFiles* const far = table_->files().empty() ? nullptr : FarOf(*files_, table_->files()[0].path);
  checks_ = far != nullptr && !far->conditional_reads();
}

bool ParquetFiles::IsFar(size_t group) const {
  return FarOf(*files_, table_->files()[table_->groups()[group].file].path) != nullptr;
}

absl::Status ParquetFiles::CheckUnchanged() {
  std::set<uint64_t> read;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    read.swap(unchecked_);
  }
  for (const uint64_t number : read) {
    if (StopSignal::Raised()) return StopSignal::Error();
    const ParquetTable::File& listed = table_->files()[number];
    // Compares the version.
    absl::Status unchanged = files_->Open(listed.path, {listed.size, listed.version}).status();
    if (!unchanged.ok()) return BeyondRow(InParquetFile(std::move(unchanged), listed.path));
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenedParquet> ParquetFiles::Open(uint64_t number) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (checks_) unchecked_.insert(number);
    const auto found =
        std::find_if(open_.begin(), open_.end(), [&](const OpenedParquet& each) { return each.number == number; });
    if (found != open_.end()) {
      std::rotate(open_.begin(), found, found + 1);
      return open_.front();
    }
  }
  absl::StatusOr<OpenedParquet> opened = OpenAnew(number);
  if (!opened.ok()) return InParquetFile(opened.status(), table_->files()[number].path);
  std::optional<OpenedParquet> oldest;
  const std::lock_guard<std::mutex> lock(mutex_);
  open_.push_front(*opened);
  if (open_.size() > kMostOpen) {
    oldest = std::move(open_.back());
    open_.pop_back();
  }
  return opened;
}

absl::StatusOr<OpenedParquet> ParquetFiles::OpenAnew(uint64_t number) const {
  const ParquetTable::File& listed = table_->files()[number];
  OpenedParquet opened;
  opened.number = number;
  opened.first_row = listed.first;
  opened.path = std::make_shared<const std::string>(listed.path);
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located place, files_->Locate(listed.path));
  // Far stores refuse other files than the listed ones when they are opened, without a request of its own.
  if (place.files->far() == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files_->Stat(listed.path));
    opened.changed = stat.size != listed.size;
  }
  HEADRACE_ASSIGN_OR_RETURN(opened.file, OpenParquet(*files_, *library_, listed.path, {listed.size, listed.version}));
  HEADRACE_RETURN_IF_ERROR(CheckGroups(opened));
  HEADRACE_ASSIGN_OR_RETURN(const ArrowOwner<ArrowSchema> schema, opened.file->Schema());
  HEADRACE_ASSIGN_OR_RETURN(opened.columns, ParquetColumns::Of(fields_, *schema, listed.path, files_));
  return opened;
}

absl::Status ParquetFiles::CheckGroups(const OpenedParquet& opened) const {
  const std::vector<int64_t>& rows = opened.file->group_rows();
  const std::vector<ParquetTable::Group>& groups = table_->groups();
  const uint64_t first = table_->files()[opened.number].first;
  auto group = std::lower_bound(groups.begin(), groups.end(), first,
                                [](const ParquetTable::Group& each, uint64_t row) { return each.first < row; });
  for (; group != groups.end() && group->file == opened.number; ++group) {
    if (group->number < rows.size() && static_cast<uint64_t>(rows[group->number]) == group->rows) continue;
    return DataError("row group ", group->number, " had ", group->rows,
                     " rows when the pipeline began, and the file was replaced since; begin it again");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ParquetGroupReader>> ParquetFiles::OpenGroup(size_t group) {
  const ParquetTable::Group& wanted = table_->groups()[group];
  HEADRACE_ASSIGN_OR_RETURN(OpenedParquet opened, Open(wanted.file));
  return ParquetGroupReader::Open(std::move(opened), wanted);
}

}  // namespace headrace
