#include "io/formats/lmdb/lmdb_table.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/printable.h"
#include "core/row_id.h"

namespace headrace {
namespace {

constexpr std::string_view kLmdbFile = "data.mdb";
constexpr int kKeyBits = 16;
constexpr int64_t kMostLmdbFile = int64_t{1} << (64 - kKeyBits - 1);
// As many levels as a cursor of LMDB has.
constexpr size_t kMostLevels = 32;
// Leaves that are end to end are read together.
constexpr int64_t kMostTogether = int64_t{256} << 10;
constexpr size_t kMostNamed = 5;

using TakeEntry = absl::FunctionRef<absl::Status(const LmdbEntry& entry, uint64_t page)>;

// Goes over a tree in the order of its keys.
class LmdbWalk {
 public:
  // `pages`: that the file has, and the meta page counts.
  LmdbWalk(const RandomAccessFile& file, const LmdbMeta& meta, uint64_t pages)
      : file_(file), meta_(meta), pages_(pages) {}

  absl::Status Walk(const LmdbTree& tree, TakeEntry take) {
    if (tree.root == LmdbTree::kNoPage) return absl::OkStatus();
    // Each page is in a tree once: more of them are a cycle.
    left_ = pages_;
    std::vector<std::vector<uint64_t>> levels = {{tree.root}};
    while (!levels.empty()) {
      if (levels.back().empty()) {
        levels.pop_back();
        continue;
      }
      HEADRACE_RETURN_IF_ERROR(ReadPages(levels.back()));
      std::vector<uint64_t> children;
      size_t used = 0;
      for (; used < numbers_.size() && children.empty(); ++used) {
        HEADRACE_RETURN_IF_ERROR(TakePage(used, take, children));
      }
      levels.back().resize(levels.back().size() - used);
      if (children.empty()) continue;
      if (levels.size() == kMostLevels) return DataError("the tree is damaged: it has more than 32 levels");
      // The first child is taken next, from the end.
      std::reverse(children.begin(), children.end());
      levels.push_back(std::move(children));
    }
    return absl::OkStatus();
  }

 private:
  // Reads the last page, and those in front of it in the list that follow it in the file.
  absl::Status ReadPages(const std::vector<uint64_t>& waiting) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    numbers_.clear();
    const auto most = static_cast<size_t>(std::max<int64_t>(1, kMostTogether / meta_.page_bytes));
    for (auto next = waiting.rbegin(); next != waiting.rend() && numbers_.size() < most; ++next) {
      if (*next > meta_.last_page)
        return DataError("the tree is damaged: it names the page ", *next, " of ", meta_.last_page);
      if (*next >= pages_) {
        return DataError("the file was cut off: it has ", pages_, " pages of ", meta_.page_bytes,
                         " bytes, and its tree has the page ", *next);
      }
      if (!numbers_.empty() && *next != numbers_.back() + 1) break;
      numbers_.push_back(*next);
    }
    bytes_.resize(numbers_.size() * static_cast<size_t>(meta_.page_bytes));
    const int64_t offset = static_cast<int64_t>(numbers_[0]) * meta_.page_bytes;
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file_.ReadAt(offset, absl::MakeSpan(bytes_)));
    if (got == static_cast<int64_t>(bytes_.size())) return absl::OkStatus();
    return DataError("byte ", offset + got, ": the file is cut off there");
  }

  absl::Status TakePage(size_t index, TakeEntry take, std::vector<uint64_t>& children) {
    if (left_ == 0) return DataError("the tree is damaged: a page of it leads back to another");
    --left_;
    const auto page_bytes = static_cast<size_t>(meta_.page_bytes);
    const std::string_view bytes(reinterpret_cast<const char*>(bytes_.data()) + index * page_bytes, page_bytes);
    const uint64_t number = numbers_[index];
    HEADRACE_ASSIGN_OR_RETURN(const LmdbPage page, LmdbPage::Of(bytes, number));
    const auto damaged = [&](size_t i) {
      return DataError("byte ", number * page_bytes, ": the page ", number, " is damaged: its entry ", i,
                       " reaches over its end");
    };
    for (size_t i = 0; i < page.size(); ++i) {
      if (page.leaf()) {
        const std::optional<LmdbEntry> entry = page.Entry(i);
        if (!entry.has_value()) return damaged(i);
        HEADRACE_RETURN_IF_ERROR(take(*entry, number));
        continue;
      }
      const std::optional<uint64_t> child = page.Child(i);
      if (!child.has_value()) return damaged(i);
      children.push_back(*child);
    }
    return absl::OkStatus();
  }

  const RandomAccessFile& file_;
  const LmdbMeta& meta_;
  const uint64_t pages_;
  uint64_t left_ = 0;              // pages that may still come
  std::vector<uint64_t> numbers_;  // of the pages in bytes_
  std::vector<uint8_t> bytes_;
};

absl::StatusOr<std::string> ReadFirst(const RandomAccessFile& file, int64_t offset) {
  std::string text(kLmdbMetaBytes, '\0');
  const absl::Span<uint8_t> target(reinterpret_cast<uint8_t*>(text.data()), text.size());
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(offset, target));
  text.resize(static_cast<size_t>(got));
  return text;
}

bool IsNamedTree(const LmdbEntry& entry) {
  return entry.tree && !entry.duplicates && entry.value.size() == LmdbTree::kBytes;
}

// Names of trees, for messages.
class TreeNames {
 public:
  void Add(std::string_view name) {
    if (++count_ > kMostNamed) return;
    Append(listed_, listed_.empty() ? "" : ", ", "\"", Printable(name), "\"");
  }
  bool empty() const { return count_ == 0; }
  std::string Text() const { return count_ > kMostNamed ? Cat(listed_, ", …") : listed_; }

 private:
  size_t count_ = 0;
  std::string listed_;
};

absl::Status NoTreeError(const std::string& wanted, const TreeNames& names) {
  if (names.empty())
    return GraphError("the file has no named databases, and so no database \"", wanted, "\"; leave database= out");
  return GraphError("the file has no database \"", wanted, "\"; it has ", names.Text());
}

absl::StatusOr<LmdbTree> FindTree(LmdbWalk walk, const LmdbMeta& meta, const std::string& database) {
  TreeNames names;
  std::optional<LmdbTree> found;
  const auto take = [&](const LmdbEntry& entry, uint64_t) {
    if (!IsNamedTree(entry)) return absl::OkStatus();
    names.Add(entry.key);
    if (entry.key == database) found = LmdbTree::Of(entry.value);
    return absl::OkStatus();
  };
  HEADRACE_RETURN_IF_ERROR(walk.Walk(meta.main, take));
  if (found.has_value()) return *found;
  return NoTreeError(database, names);
}

// A file may end before its last pages if they are free: LMDB does not write pages that a transaction gave up.
absl::StatusOr<uint64_t> PagesOf(const LmdbMeta& meta, int64_t size) {
  if (size > kMostLmdbFile) return UnsupportedError("the file has ", size, " bytes, more than can be numbered");
  const auto there = static_cast<uint64_t>(size / meta.page_bytes);
  return meta.last_page < there ? meta.last_page + 1 : there;
}

// Makes the table of the entries of a tree.
class TableOfTree {
 public:
  TableOfTree(LmdbTable table, uint64_t pages) : table_(std::move(table)), pages_(pages) {}

  // Of the main tree, which may have named ones in place of values.
  absl::Status TakeMain(const LmdbEntry& entry, uint64_t page) {
    if (IsNamedTree(entry)) names_.Add(entry.key);
    return names_.empty() ? Take(entry, page) : absl::OkStatus();
  }

  absl::Status Take(const LmdbEntry& entry, uint64_t page) {
    LmdbTable::Place place;
    place.at = static_cast<int64_t>(page) * table_.page_bytes() + static_cast<int64_t>(entry.at);
    if (entry.tree || entry.duplicates) {
      return DataError("byte ", place.at, ": the entry ", table_.size(), " is a database, where a value was expected");
    }
    place.key_bytes = static_cast<uint16_t>(entry.key.size());
    place.value_bytes = entry.value_bytes;
    if (entry.big) {
      place.value_page = OverflowPageOf(entry);
      HEADRACE_RETURN_IF_ERROR(CheckValuePages(place));
      longest_ = std::max<int64_t>(longest_, entry.value_bytes);
    }
    table_.Add(place);
    return absl::OkStatus();
  }

  absl::StatusOr<LmdbTable> Made(const LmdbTree& tree, const RandomAccessFile& file) && {
    if (!names_.empty())
      return GraphError("the file has named databases; give the name of one as database=: ", names_.Text());
    if (table_.size() != tree.entries) {
      return DataError("the database is damaged, or was written to meanwhile: it has ", table_.size(),
                       " entries, and should have ", tree.entries);
    }
    if (longest_ > 0) HEADRACE_RETURN_IF_ERROR(CheckHeld(table_.files()[0].path, file, longest_));
    return std::move(table_);
  }

 private:
  absl::Status CheckValuePages(const LmdbTable::Place& place) const {
    const uint64_t last_page = table_.meta().last_page;
    const auto more =
        static_cast<uint64_t>((static_cast<int64_t>(kLmdbPageHead) + place.value_bytes - 1) / table_.page_bytes());
    if (place.value_page < 2 || place.value_page > last_page || more > last_page - place.value_page) {
      return DataError("byte ", place.at, ": the value of entry ", table_.size(), " has ", place.value_bytes,
                       " bytes from the page ", place.value_page, " on, and the last page is ", last_page);
    }
    if (more < pages_ && place.value_page < pages_ - more) return absl::OkStatus();
    return DataError("byte ", place.at, ": the file was cut off: the value of entry ", table_.size(),
                     " lies in the page ", place.value_page, " and after it, and the file has ", pages_, " pages");
  }

  LmdbTable table_;
  const uint64_t pages_;  // that the file has
  int64_t longest_ = 0;   // of the values that have pages of their own
  TreeNames names_;
};

absl::StatusOr<LmdbTable> WalkTable(const FileSystem& files, const std::string& path, const std::string& database) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(const LmdbMeta meta, ReadLmdbMeta(*file));
  HEADRACE_ASSIGN_OR_RETURN(const uint64_t pages, PagesOf(meta, size));
  const bool main = database.empty();
  LmdbTree tree = meta.main;
  if (!main) {
    HEADRACE_ASSIGN_OR_RETURN(tree, FindTree({*file, meta, pages}, meta, database));
  }
  if ((tree.flags & LmdbTree::kSortsDuplicates) != 0) {
    return UnsupportedError(
        "the database holds several values of a key (dupsort), which is not read; copy it into "
        "one without dupsort");
  }
  TableOfTree table(LmdbTable(path, size, meta), pages);
  const auto take = [&](const LmdbEntry& entry, uint64_t page) {
    return main ? table.TakeMain(entry, page) : table.Take(entry, page);
  };
  LmdbWalk walk(*file, meta, pages);
  HEADRACE_RETURN_IF_ERROR(walk.Walk(tree, take));
  return std::move(table).Made(tree, *file);
}

}  // namespace

void LmdbTable::Add(const Place& place) {
  places_.push_back(static_cast<uint64_t>(place.at) << kKeyBits | place.key_bytes);
  value_bytes_.push_back(place.value_bytes);
  if (place.value_page != 0 || !value_pages_.empty()) {
    value_pages_.resize(places_.size());
    value_pages_.back() = place.value_page;
  }
}

LmdbTable::Place LmdbTable::PlaceOf(uint64_t row) const {
  const uint64_t place = places_[row];
  return {static_cast<int64_t>(place >> kKeyBits), static_cast<uint16_t>(place), value_bytes_[row],
          value_pages_.empty() ? 0 : value_pages_[row]};
}

uint64_t LmdbTable::fingerprint() const { return MixKey(MixKey(meta_.transaction, meta_.main.root), places_.size()); }

absl::StatusOr<std::string> FindLmdbFile(const FileSystem& files, const std::string& path) {
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (stat.ok() && stat->type == EntryType::kFolder) return JoinPath(path, kLmdbFile);
  return path;
}

absl::StatusOr<LmdbMeta> ReadLmdbMeta(const RandomAccessFile& file) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string first, ReadFirst(file, 0));
  HEADRACE_ASSIGN_OR_RETURN(const LmdbMeta one, ParseLmdbMeta(first));
  HEADRACE_ASSIGN_OR_RETURN(const std::string second, ReadFirst(file, one.page_bytes));
  const absl::StatusOr<LmdbMeta> two = ParseLmdbMeta(second);
  if (!two.ok() || two->page_bytes != one.page_bytes) return one;
  return two->transaction > one.transaction ? *two : one;
}

absl::StatusOr<LmdbMeta> ReadLmdbMeta(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  absl::StatusOr<LmdbMeta> meta = ReadLmdbMeta(*file);
  if (meta.ok()) return meta;
  absl::Status error = std::move(meta).status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

absl::StatusOr<LmdbTable> MakeLmdbTable(const FileSystem& files, const std::string& path, const std::string& database) {
  absl::StatusOr<LmdbTable> table = WalkTable(files, path, database);
  if (table.ok()) return table;
  absl::Status error = std::move(table).status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

}  // namespace headrace
