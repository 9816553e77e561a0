#include "io/formats/parquet/testing/fake_parquet.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

void ReleaseChild(ArrowArray* child) { child->release = nullptr; }
void ReleaseChildSchema(ArrowSchema* child) { child->release = nullptr; }

// The memory of an array of a batch.
struct ArrayMemory {
  struct Column {
    std::vector<int64_t> values;
    std::vector<uint8_t> valid;
    const void* buffers[2] = {};
    ArrowArray array = {};
  };

  std::vector<std::unique_ptr<Column>> columns;
  std::vector<ArrowArray*> children;
  const void* buffers[1] = {};
  std::atomic<int>* alive = nullptr;
};

void ReleaseArray(ArrowArray* array) {
  auto* const memory = static_cast<ArrayMemory*>(array->private_data);
  --*memory->alive;
  array->release = nullptr;
  delete memory;
}

std::unique_ptr<ArrayMemory::Column> MakeColumn(const FakeValues& values, int64_t begin, int64_t rows) {
  auto column = std::make_unique<ArrayMemory::Column>();
  column->valid.resize(static_cast<size_t>(rows) / 8 + 1);
  int64_t missing = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const std::optional<int64_t>& value = values[static_cast<size_t>(begin + i)];
    column->values.push_back(value.value_or(0));
    if (value.has_value()) column->valid[static_cast<size_t>(i) / 8] |= static_cast<uint8_t>(1 << (i % 8));
    if (!value.has_value()) ++missing;
  }
  column->buffers[0] = missing == 0 ? nullptr : column->valid.data();
  column->buffers[1] = column->values.data();
  column->array.length = rows;
  column->array.null_count = missing;
  column->array.n_buffers = 2;
  column->array.buffers = column->buffers;
  column->array.release = &ReleaseChild;
  return column;
}

struct SchemaMemory {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<ArrowSchema>> fields;
  std::vector<ArrowSchema*> children;
};

void ReleaseSchema(ArrowSchema* schema) {
  delete static_cast<SchemaMemory*>(schema->private_data);
  schema->release = nullptr;
}

}  // namespace

class FakeParquet::Batches : public ParquetBatches {
 public:
  Batches(const FakeParquet* library, std::shared_ptr<const FakeParquetFile> file, size_t group,
          std::vector<size_t> columns)
      : library_(library), file_(std::move(file)), group_(file_->groups[group]), columns_(std::move(columns)) {}

  absl::StatusOr<HeldArrow> Next() override {
    const int64_t left = static_cast<int64_t>(group_.columns[0].size()) - at_;
    if (left == 0) return HeldArrow();
    if (group_.damaged && at_ > 0) return DataError("the page is damaged");
    const int64_t rows = std::min(left, library_->batch_rows_);
    auto memory = std::make_unique<ArrayMemory>();
    for (const size_t column : columns_) {
      memory->columns.push_back(MakeColumn(group_.columns[column], at_, rows));
      memory->children.push_back(&memory->columns.back()->array);
    }
    memory->alive = &library_->alive_;
    ++library_->alive_;
    ArrowOwner<ArrowArray> owner;
    ArrowArray& array = *owner.get();
    array.length = rows;
    array.n_buffers = 1;
    array.buffers = memory->buffers;
    array.n_children = static_cast<int64_t>(memory->children.size());
    array.children = memory->children.data();
    array.release = &ReleaseArray;
    array.private_data = memory.release();
    at_ += rows;
    return KeepArrow(std::move(owner));
  }

 private:
  const FakeParquet* const library_;
  const std::shared_ptr<const FakeParquetFile> file_;
  const FakeParquetGroup& group_;
  const std::vector<size_t> columns_;
  int64_t at_ = 0;
};

class FakeParquet::Opened : public ParquetFile {
 public:
  Opened(const FakeParquet* library, std::shared_ptr<const FakeParquetFile> file)
      : library_(library), file_(std::move(file)) {
    for (const FakeParquetGroup& group : file_->groups) {
      rows_.push_back(group.claimed_rows.value_or(static_cast<int64_t>(group.columns[0].size())));
    }
  }

  const std::vector<int64_t>& group_rows() const override { return rows_; }

  absl::StatusOr<ArrowOwner<ArrowSchema>> Schema() const override {
    auto memory = std::make_unique<SchemaMemory>();
    memory->names = file_->names;
    for (const std::string& name : memory->names) {
      auto field = std::make_unique<ArrowSchema>();
      field->format = file_->format;
      field->name = name.c_str();
      field->flags = ARROW_FLAG_NULLABLE;
      field->release = &ReleaseChildSchema;
      memory->children.push_back(field.get());
      memory->fields.push_back(std::move(field));
    }
    ArrowOwner<ArrowSchema> schema;
    schema.get()->format = "+s";
    schema.get()->name = "";
    schema.get()->n_children = static_cast<int64_t>(memory->children.size());
    schema.get()->children = memory->children.data();
    schema.get()->release = &ReleaseSchema;
    schema.get()->private_data = memory.release();
    return schema;
  }

  absl::StatusOr<std::unique_ptr<ParquetBatches>> Read(size_t group,
                                                       const std::vector<std::string>& columns) const override {
    std::vector<size_t> numbers;
    for (const std::string& name : columns) {
      const auto found = std::find(file_->names.begin(), file_->names.end(), name);
      if (found == file_->names.end()) return DataError("no column ", name);
      numbers.push_back(static_cast<size_t>(found - file_->names.begin()));
    }
    ++library_->groups_read_;
    library_->columns_read_ += static_cast<int>(columns.size());
    if (file_->groups[group].unreadable) return DataError("its pages cannot be read");
    return std::make_unique<Batches>(library_, file_, group, std::move(numbers));
  }

 private:
  const FakeParquet* const library_;
  const std::shared_ptr<const FakeParquetFile> file_;
  std::vector<int64_t> rows_;
};

FakeParquet::FakeParquet(int64_t batch_rows) : batch_rows_(batch_rows) { SetParquetLibrary(this); }

FakeParquet::~FakeParquet() { SetParquetLibrary(nullptr); }

void FakeParquet::Set(const std::string& path, FakeParquetFile file) {
  files_[path] = std::make_shared<const FakeParquetFile>(std::move(file));
}

void FakeParquet::SetRows(const std::string& path, const std::vector<int>& rows, int64_t first) {
  FakeParquetFile file;
  for (const int count : rows) {
    FakeParquetGroup group;
    group.columns.emplace_back();
    for (int i = 0; i < count; ++i) group.columns[0].emplace_back(first++);
    file.groups.push_back(std::move(group));
  }
  Set(path, std::move(file));
}

absl::StatusOr<std::shared_ptr<const ParquetFile>> FakeParquet::Open(const std::string& path) const {
  const auto found = files_.find(path);
  if (found == files_.end() || found->second->damaged) return DataError("the magic bytes are wrong");
  ++opened_;
  return std::make_shared<Opened>(this, found->second);
}

absl::StatusOr<std::shared_ptr<const ParquetFile>> FakeParquet::OpenFar(
    const std::string& path, std::shared_ptr<const RandomAccessFile> file) const {
  uint8_t byte = 0;
  HEADRACE_RETURN_IF_ERROR(file->ReadAt(0, absl::MakeSpan(&byte, 1)).status());
  return Open(path);
}

}  // namespace headrace
