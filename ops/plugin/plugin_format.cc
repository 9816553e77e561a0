#include "ops/plugin/plugin_format.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "engine/operator/operator.h"
#include "io/formats/read_ahead_file.h"
#include "io/formats/record_reader.h"
#include "kernels/plugin/plugin_call.h"
#include "kernels/plugin/plugin_file.h"
#include "kernels/plugin/plugin_values.h"
#include "ops/plugin/plugin_columns.h"
#include "ops/source/file_patterns.h"
#include "ops/source/memory/host_row.h"
#include "ops/source/split_source.h"

namespace headrace {
namespace {

// In one block of a reader.
constexpr size_t kMostRows = 1024;
// Splits of files that are not cut: larger than any file.
constexpr char kWholeFiles[] = "1000000000000000";

class FormatFile final : public headrace_file {
 public:
  explicit FormatFile(ReadAheadFile& bytes) : bytes_(bytes) {}

  int64_t Size() const override { return bytes_.size(); }
  absl::Status Read(int64_t offset, uint64_t bytes, uint8_t* target) override {
    return bytes_.Read(offset, bytes, target);
  }

 private:
  ReadAheadFile& bytes_;
};

// What create() made of the attributes, which formats and readers share.
class FormatState {
 public:
  FormatState(const PluginFormatTable& table, const OpArguments& arguments)
      : table_(table), values_(table.attributes, arguments.attributes) {
    for (const ir::Column& column : arguments.output.columns) types_.push_back(column.type);
  }
  FormatState(const FormatState&) = delete;
  ~FormatState() {
    if (format().destroy == nullptr || state_ == nullptr) return;
    try {
      format().destroy(state_);
    } catch (...) {  // the interface forbids it, and nobody is there to be told
    }
  }

  absl::Status Create() {
    if (format().create == nullptr) return absl::OkStatus();
    headrace_call call(op(), "create");
    const absl::Status made =
        call.Run([this](headrace_call* call) { return format().create(call, values_.values(), &state_); });
    if (!made.ok()) state_ = nullptr;
    return made;
  }

  const std::string& op() const { return table_.op; }
  const headrace_format& format() const { return table_.given; }
  const void* state() const { return state_; }
  const std::vector<ir::ColumnType>& types() const { return types_; }

 private:
  const PluginFormatTable& table_;
  const PluginValues values_;
  std::vector<ir::ColumnType> types_;
  void* state_ = nullptr;
};

// Calls the plugin from Next() on, so that opening a split ahead waits for no byte of it.
class PluginReader : public RecordReader {
 public:
  PluginReader(std::shared_ptr<const FormatState> made, std::unique_ptr<ReadAheadFile> bytes, const Split& split,
               int64_t from, size_t block_bytes)
      : made_(std::move(made)),
        bytes_(std::move(bytes)),
        begin_(split.begin),
        end_(std::min(split.end, bytes_->size())),
        from_(from),
        block_bytes_(block_bytes),
        offset_(from),
        file_(*bytes_) {}
  PluginReader(const PluginReader&) = delete;
  ~PluginReader() override {
    if (format().close == nullptr || reader_ == nullptr) return;
    try {
      format().close(reader_);
    } catch (...) {  // the interface forbids it, and nobody is there to be told
    }
  }

  absl::Status Next(RecordBlock& block) override {
    block = RecordBlock();
    if (!opened_) HEADRACE_RETURN_IF_ERROR(Open());
    size_t bytes = 0;
    while (wrong_.ok() && !done_ && bytes < block_bytes_ && block.records.size() < kMostRows) {
      wrong_ = StopSignal::Raised() ? StopSignal::Error() : AddRow(block, bytes);
    }
    block.end = offset_;
    return block.records.empty() ? wrong_ : absl::OkStatus();
  }
  int64_t offset() const override { return offset_; }
  int64_t file_size() const override { return bytes_->size(); }

 private:
  const headrace_format& format() const { return made_->format(); }
  absl::Status Broken(std::string_view callback, std::string_view how) const {
    return BrokenRule(made_->op(), callback, how);
  }

  absl::Status Open() {
    opened_ = true;
    done_ = true;
    if (format().find == nullptr) {
      // One split: the file.
      if (begin_ > 0 || end_ == 0) return absl::OkStatus();
      end_ = bytes_->size();
      offset_ = 0;
    } else {
      if (from_ >= end_) return absl::OkStatus();
      HEADRACE_RETURN_IF_ERROR(FindFirst());
    }
    if (offset_ >= end_) return absl::OkStatus();
    headrace_call call(made_->op(), "open");
    const absl::Status made = call.Run(
        [this](headrace_call* call) { return format().open(call, made_->state(), &file_, offset_, end_, &reader_); });
    if (!made.ok()) reader_ = nullptr;
    done_ = !made.ok();
    return wrong_ = made;
  }

  absl::Status FindFirst() {
    int64_t begin = -1;
    headrace_call call(made_->op(), "find");
    wrong_ = call.Run([&](headrace_call* call) { return format().find(call, made_->state(), &file_, from_, &begin); });
    if (wrong_.ok() && (begin < from_ || begin > bytes_->size())) {
      wrong_ = Broken("find", Cat("gives byte ", begin, " as where a row begins from byte ", from_,
                                  " on, in a file of ", bytes_->size(), " bytes"));
    }
    if (wrong_.ok()) offset_ = begin;
    return wrong_;
  }

  // OK without a row more: there is none, or it comes before those that are wanted.
  absl::Status AddRow(RecordBlock& block, size_t& bytes) {
    headrace_call::Row row = {
        .types = made_->types(), .typed_by = "columns()", .outputs = Tensors(made_->types().size())};
    headrace_call::Place place;
    headrace_call call(made_->op(), "next");
    call.Give(&row);
    call.Give(&place);
    absl::Status status = call.Run([this](headrace_call* call) { return format().next(call, reader_, &file_); });
    if (!place.given) {
      done_ = true;
      return status;
    }
    HEADRACE_RETURN_IF_ERROR(CheckPlace(place));
    offset_ = place.end;
    if (place.begin < from_) return absl::OkStatus();
    if (status.ok()) status = FinishOutputs(made_->op(), "next", {}, row.outputs);
    size_t size = 0;
    for (const Tensor& output : row.outputs) size += output.valid() ? output.bytes() : 0;
    bytes += size;
    const auto length = static_cast<uint32_t>(std::min<size_t>(size, std::numeric_limits<uint32_t>::max()));
    block.records.push_back({place.begin, 0, length});
    if (status.ok()) {
      block.rows.emplace_back(std::vector<Tensor>(std::make_move_iterator(row.outputs.begin()),
                                                  std::make_move_iterator(row.outputs.end())));
    } else {
      block.rows.emplace_back(std::move(status));
    }
    return absl::OkStatus();
  }

  absl::Status CheckPlace(const headrace_call::Place& place) const {
    const std::string row = Cat("gives a row of bytes ", place.begin, " to ", place.end);
    if (place.begin < offset_) {
      return Broken("next", Cat(row, ", which begins before byte ", offset_, ", where the rows before end"));
    }
    if (place.begin >= end_) {
      return Broken("next", Cat(row, ", which is not of its split: that ends at byte ", end_));
    }
    if (place.end > place.begin && place.end <= bytes_->size()) return absl::OkStatus();
    return Broken("next", Cat(row, ", which are not in the file of ", bytes_->size(), " bytes"));
  }

  const std::shared_ptr<const FormatState> made_;
  const std::unique_ptr<ReadAheadFile> bytes_;
  const int64_t begin_;
  int64_t end_;
  const int64_t from_;
  const size_t block_bytes_;
  int64_t offset_;  // after the last row, or where the first one may begin
  FormatFile file_;
  void* reader_ = nullptr;
  bool opened_ = false;
  bool done_ = false;
  absl::Status wrong_;  // what ended the reading
};

class PluginFormat : public Format {
 public:
  explicit PluginFormat(std::shared_ptr<const FormatState> made) : made_(std::move(made)) {}

  PartBorders part_borders() const override { return {}; }
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override {
    const bool whole = made_->format().find == nullptr;
    // A file that is not cut is the split in which it begins, and is read from its start.
    const int64_t first = !whole ? from : split.begin > 0 ? Split::kFileEnd : 0;
    const int64_t until = whole ? Split::kFileEnd : split.end;
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<ReadAheadFile> file,
                              ReadAheadFile::Open(files, path, first, until, block_bytes));
    // A file that became shorter than it was listed has nothing in its last splits.
    if (from > file->size() && from != split.begin) {
      return DataError(path, " has ", file->size(), " bytes, and was to be read on from byte ", from,
                       ": it was cut off");
    }
    return std::make_unique<PluginReader>(made_, std::move(file), split, from, block_bytes);
  }

 private:
  const std::shared_ptr<const FormatState> made_;
};

// The rows that the reader made.
class PluginRows : public RecordColumns {
 public:
  explicit PluginRows(size_t columns) : columns_(columns) {}

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    for (size_t i = 0; i < count; ++i) {
      const absl::StatusOr<std::vector<Tensor>>& row = block.rows[first + i * step];
      wrong = row.status();
      if (!wrong.ok()) return i;
      for (size_t column = 0; column < columns_.size(); ++column) columns_[column].Append((*row)[column]);
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    for (BlockColumn& column : columns_) block.columns.push_back(std::exchange(column, {}));
    JoinSmallRows(block);
    return absl::OkStatus();
  }

 private:
  std::vector<BlockColumn> columns_;
};

absl::StatusOr<std::unique_ptr<StreamSource>> MakeSource(const PluginFormatTable& table, const OpArguments& arguments) {
  auto made = std::make_shared<FormatState>(table, arguments);
  HEADRACE_RETURN_IF_ERROR(made->Create());
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, MatchFiles(*arguments.run->files, table.op, arguments.attributes));
  const size_t columns = made->types().size();
  return SplitSource::Make(std::make_unique<PluginFormat>(std::move(made)), std::move(files),
                           std::make_unique<PluginRows>(columns), arguments);
}

}  // namespace

ir::Declaration DeclareFormat(std::string_view plugin, const PluginFormatTable& table) {
  ir::Declaration declaration = DeclarationOf(plugin, table);
  declaration.attributes.insert(declaration.attributes.begin(), DeclarePatterns());
  for (ir::Attribute& attribute : SplitReading::Declare()) {
    if (attribute.name == "split_bytes" && table.given.find == nullptr) {
      attribute.default_value = kWholeFiles;
      attribute.nullable = false;
      attribute.hidden = true;
    }
    declaration.attributes.push_back(std::move(attribute));
  }
  return declaration;
}

absl::Status RegisterFormat(std::string_view plugin, const PluginFormatTable& table) {
  ir::Declaration declaration = DeclareFormat(plugin, table);
  declaration.infer = [&table](const ir::Attributes& attributes,
                               absl::Span<const ir::Schema> /*inputs*/) -> absl::StatusOr<ir::Schema> {
    HEADRACE_RETURN_IF_ERROR(CheckPatterns(attributes));
    return PluginColumns(table.op, table.given.columns, table.attributes, attributes);
  };
  return RegisterOp(std::move(declaration),
                    SplitFactories([&table](const OpArguments& arguments) { return MakeSource(table, arguments); }));
}

}  // namespace headrace
