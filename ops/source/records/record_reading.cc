#include "ops/source/records/record_reading.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/row_notes.h"
#include "engine/operator/row_warnings.h"
#include "io/formats/recordio/indexed_records.h"
#include "io/formats/recordio/record_io_format.h"
#include "ir/graph.pb.h"
#include "ops/source/file_patterns.h"
#include "ops/source/item_source.h"
#include "ops/source/split_source.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 20;
constexpr size_t kManyBytes = size_t{64} << 10;

OnDamage OnDamageOf(const ir::Attributes& attributes) {
  return attributes.String("damage") == "skip" ? OnDamage::kSkip : OnDamage::kFail;
}

// The records of a stream as items.
class ItemRecords : public RecordColumns {
 public:
  explicit ItemRecords(RecordRows rows) : rows_(std::move(rows)) {}

  void Choose(RecordBlock& block) const override {
    if (rows_.is_row == nullptr) return;
    size_t kept = 0;
    for (size_t i = 0; i < block.records.size(); ++i) {
      if (rows_.is_row(block.content(i))) block.records[kept++] = block.records[i];
    }
    block.records.resize(kept);
  }

  // A message that has many bytes of one block ends with it: its records are then views in one table.
  bool Joins(const RecordBlock& block) const override {
    return held_.back().get() == block.buffer.get() || held_.size() > 1 || bytes_ < kManyBytes;
  }

  size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) override {
    if (held_.empty() || held_.back().get() != block.buffer.get()) held_.push_back(block.buffer);
    for (size_t i = 0; i < count; ++i) {
      const std::string_view content = block.content(first + i * step);
      items_.push_back({0, nullptr, &held_.back(), content, std::max<size_t>(1, step * content.size())});
      wrong = rows_.columns->Check(items_.back());
      bytes_ += content.size();
      if (wrong.ok()) continue;
      items_.pop_back();
      return i;
    }
    return count;
  }

  absl::Status Take(Block& block) override {
    absl::Status made;
    for (const int field : rows_.fields) {
      absl::StatusOr<BlockColumn> column = rows_.columns->Make(field, items_);
      made = column.status();
      if (!made.ok()) break;
      block.columns.push_back(*std::move(column));
    }
    items_.clear();
    held_.clear();
    bytes_ = 0;
    if (!made.ok()) block.columns.clear();
    return made;
  }

 private:
  const RecordRows rows_;
  std::vector<Item> items_;
  std::deque<BufferRef> held_;  // that they are in
  size_t bytes_ = 0;            // of their contents
};

// Items whose table had something amiss.
class RecordSource : public ItemSource {
 public:
  RecordSource(const OpArguments& arguments, std::shared_ptr<const RecordTable> table, RecordRows rows,
               MatchedFiles files)
      : ItemSource(std::make_unique<IndexedRecords>(arguments.run->files, table), std::move(rows.columns),
                   std::move(rows.fields), std::move(files.fingerprint)),
        paths_(std::move(files.paths)),
        warnings_(std::make_shared<RowWarnings>(arguments.name, "position")) {
    for (const RecordTable::Note& note : table->notes()) {
      warnings_->Add({}, {std::make_shared<const std::string>(note.path), -1, note.offset}, note.text);
    }
  }

  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }
  void AddNoteFiles(std::vector<std::string>& paths) const override {
    for (const std::string& path : TextsOf(paths_)) paths.push_back(Cat(path, kNoteFileEnding));
  }

 private:
  const PathArena paths_;
  const std::shared_ptr<RowWarnings> warnings_;
};

// The paths of the indices; none: they are built.
absl::StatusOr<std::vector<std::string>> IndicesOf(const OpArguments& arguments, size_t files) {
  if (BuildsIndex(arguments.attributes)) return std::vector<std::string>();
  const std::vector<std::string> given = arguments.attributes.Paths("index");
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(*arguments.run->files, given, kIndexEnding));
  if (static_cast<size_t>(matched.size()) != files) {
    return GraphError("index names ", matched.size(), matched.size() == 1 ? " file" : " files", " and paths ", files,
                      "; give an index for each, in the order of paths, or index=\"build\"");
  }
  return TextsOf(matched);
}

absl::StatusOr<std::shared_ptr<const RecordTable>> TableOf(const OpArguments& arguments,
                                                           const std::vector<std::string>& paths,
                                                           ChooseRecords choose) {
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> indices, IndicesOf(arguments, paths.size()));
  const OnDamage on_damage = OnDamageOf(arguments.attributes);
  const bool writes = arguments.run->writes;
  // A run that may write does not take a table whose indices were not written.
  const std::string_view how = !indices.empty() ? "" : writes ? " build" : " build unwritten";
  const std::string name = Cat(choose == ChooseAll ? "all" : "chosen", on_damage == OnDamage::kSkip ? " skip" : "", how,
                               "\n", absl::StrJoin(paths, "\n"), "\n", absl::StrJoin(indices, "\n"));
  std::vector<std::string> read = paths;
  read.insert(read.end(), indices.begin(), indices.end());
  return KeptTable<RecordTable>(files, name, std::move(read), [&]() -> absl::StatusOr<RecordTable> {
    return indices.empty() ? BuildIndices(files, paths, on_damage, choose, writes)
                           : ReadIndices(files, paths, indices, on_damage, choose);
  });
}

absl::StatusOr<MatchedFiles> FilesOf(const OpArguments& arguments) {
  const std::vector<std::string> texts = arguments.attributes.Paths("paths");
  const FileSystem& files = *arguments.run->files;
  HEADRACE_ASSIGN_OR_RETURN(PathArena paths, MatchInOrder(files, texts, kRecordEnding));
  return Measure(files, arguments.node->op(), std::move(paths), texts);
}

absl::StatusOr<std::unique_ptr<IndexedSource>> MakeIndexed(const OpArguments& arguments, MakeRecordRows make) {
  HEADRACE_ASSIGN_OR_RETURN(RecordRows rows, make(arguments));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOf(arguments));
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const RecordTable> table,
                            TableOf(arguments, TextsOf(files.paths), rows.choose));
  CoverTable(*table, files.fingerprint);
  return std::make_unique<RecordSource>(arguments, std::move(table), std::move(rows), std::move(files));
}

absl::StatusOr<std::unique_ptr<StreamSource>> MakeStream(const OpArguments& arguments, MakeRecordRows make) {
  HEADRACE_ASSIGN_OR_RETURN(RecordRows rows, make(arguments));
  HEADRACE_ASSIGN_OR_RETURN(MatchedFiles files, FilesOf(arguments));
  return SplitSource::Make(std::make_unique<RecordIoFormat>(OnDamageOf(arguments.attributes)), std::move(files),
                           std::make_unique<ItemRecords>(std::move(rows)), arguments, kBlockBytes);
}

}  // namespace

std::vector<ir::Attribute> DeclareRecordReading() {
  std::vector<ir::Attribute> attributes = {
      {.name = "paths",
       .type = ir::AttributeType::kStrings,
       .doc =
           "RecordIO files: paths, with `*`, `?`, `[abc]` and `**`, several of them in a list or between semicolons; "
           "a folder stands for the .rec files in it.",
       .length = ir::ListLength{},
       .path = true},
      DeclareNamedIndex("The .idx file of each file, in the order of paths, or \"build\": the one beside the file, "
                        "made by a scan if it "
                        "is missing or does not fit.")};
  for (ir::Attribute& attribute : SplitReading::DeclareBesideIndex()) attributes.push_back(std::move(attribute));
  attributes.push_back({.name = "damage",
                        .type = ir::AttributeType::kString,
                        .doc =
                            "What to do where bytes are no record: \"error\", or \"skip\" to go on at the next record; "
                            "explain() names what was left out.",
                        .default_value = "'error'",
                        .choices = {"error", "skip"}});
  return attributes;
}

absl::Status CheckRecordReading(const ir::Attributes& attributes) {
  for (const std::string_view list : {"paths", "index"}) {
    if (attributes.IsNone(list)) continue;
    for (const std::string& text : attributes.Paths(list)) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
  }
  return SplitReading::CheckBesideIndex(attributes);
}

OpFactories RecordFactories(MakeRecordRows make) {
  return TableFactories([make](const OpArguments& arguments) { return MakeStream(arguments, make); },
                        [make](const OpArguments& arguments) { return MakeIndexed(arguments, make); });
}

ir::PythonSignature RecordSignature(const std::vector<SourceParameter>& own) {
  constexpr std::string_view kPaths = "str | PathLike[str] | Sequence[str | PathLike[str]]";
  std::vector<SourceParameter> first = {
      {"paths", Cat("paths: ", kPaths)}, {"index", Cat("index: ", kPaths, " | None = None")}, ShuffleParameter()};
  first.insert(first.end(), own.begin(), own.end());
  return SplitSignature(
      {.first = std::move(first),
       .window = "1024",
       .window_doc = "With `shuffle` and without an index: rows are then mixed by shuffle(window); 0: they are not.",
       .last = {{"damage", "damage: str = \"error\""}}});
}

}  // namespace headrace
