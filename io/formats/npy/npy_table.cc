#include "io/formats/npy/npy_table.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/utf8.h"
#include "io/formats/npy/npy_head.h"
#include "io/formats/zip/zip_directory.h"

namespace headrace {
namespace {

constexpr std::string_view kNpyEnding = ".npy";
constexpr size_t kArraysListed = 12;

// Bytes [begin, end) of a file, or of what was unpacked, or of which the start alone was.
struct NpyBytes {
  const RandomAccessFile* file = nullptr;
  BufferRef unpacked = {};
  int64_t begin = 0;
  int64_t end = 0;
  std::string start = {};

  absl::StatusOr<std::string> First(int64_t bytes) const {
    std::string text(static_cast<size_t>(std::min(bytes, end - begin)), '\0');
    if (unpacked) {
      text.assign(reinterpret_cast<const char*>(unpacked->data()) + begin, text.size());
      return text;
    }
    if (file == nullptr) return start.substr(0, text.size());
    const absl::Span<uint8_t> target(reinterpret_cast<uint8_t*>(text.data()), text.size());
    HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file->ReadAt(begin, target));
    text.resize(static_cast<size_t>(got));
    return text;
  }
};

struct NpyRows {
  int64_t begin = 0;  // of the first row
  uint64_t rows = 0;
  int64_t row_bytes = 0;
  std::vector<FixedField> fields = {};
};

// How many bytes those axes have; nullopt: more than 62 bits count.
std::optional<int64_t> BytesOfAxes(absl::Span<const int64_t> axes, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  for (const int64_t size : axes) {
    if (size > 0 && bytes > (int64_t{1} << 62) / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

absl::Status CheckOrder(const NpyHead& head) {
  const bool is_matrix =
      std::count_if(head.shape.begin(), head.shape.end(), [](int64_t size) { return size != 1; }) > 1;
  if (!head.fortran || !is_matrix) return absl::OkStatus();
  return DataError(
      "the array is in Fortran's order, so that no row of it is in one place; save numpy.ascontiguousarray(array)");
}

absl::StatusOr<NpyRows> RowsOfHead(const NpyHead& head, int64_t begin, int64_t end) {
  if (head.shape.empty()) return DataError("the array has no axis, and rows are its first one");
  HEADRACE_RETURN_IF_ERROR(CheckOrder(head));
  if (head.record && head.shape.size() > 1) {
    return DataError("the array holds records along ", head.shape.size(), " axes; save array.reshape(-1)");
  }
  NpyRows found{begin, static_cast<uint64_t>(head.shape[0]), 0, head.fields};
  const absl::Span<const int64_t> axes = absl::MakeConstSpan(head.shape).subspan(1);
  if (!head.record) found.fields[0].shape.assign(axes.begin(), axes.end());
  const std::optional<int64_t> row_bytes = BytesOfAxes(axes, head.element_bytes);
  if (row_bytes.has_value() && *row_bytes == 0) {
    return DataError("the rows of the array have no elements; its shape is ", ShapeName(head.shape));
  }
  const std::optional<int64_t> bytes = row_bytes.has_value() ? BytesOfAxes({head.shape[0]}, *row_bytes) : std::nullopt;
  if (!bytes.has_value() || *bytes > end - begin) {
    return DataError("the array was cut off: ", end - begin, " bytes come after its header, and its shape ",
                     ShapeName(head.shape), " needs ", bytes.has_value() ? Cat(*bytes) : "more than there can be");
  }
  if (*bytes < end - begin) {
    return DataError("byte ", begin + *bytes,
                     ": more bytes follow the array, as of a second one; save one array a file");
  }
  found.row_bytes = *row_bytes;
  return found;
}

absl::StatusOr<NpyRows> FindNpyRows(const NpyBytes& bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string first, bytes.First(kNpyFirstBytes));
  HEADRACE_ASSIGN_OR_RETURN(const size_t length, NpyHeadBytes(first));
  if (length > kMostNpyHeadBytes) return DataError("the array has a header of ", length, " bytes, which is too long");
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, bytes.First(static_cast<int64_t>(length)));
  HEADRACE_ASSIGN_OR_RETURN(const NpyHead head, ParseNpyHead(text));
  return RowsOfHead(head, bytes.begin + static_cast<int64_t>(length), bytes.end);
}

// The rows of a file of its own.
absl::StatusOr<NpyRows> ReadNpyFile(const FileSystem& files, const std::string& path, int64_t& size) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(NpyRows found, FindNpyRows({file.get(), {}, 0, size}));
  if (found.rows > 0) HEADRACE_RETURN_IF_ERROR(CheckHeld(path, *file, found.row_bytes));
  if (found.fields[0].name.empty()) found.fields[0].name = kNpyColumn;
  return found;
}

std::string NameOfField(const FixedField& field) {
  return Cat(field.name, " ", DTypeName(field.dtype), " ", ShapeName(field.shape));
}

absl::Status CheckAlike(const NpyRows& rows, const NpyRows& first, std::string_view first_path) {
  if (rows.row_bytes == first.row_bytes && rows.fields == first.fields) return absl::OkStatus();
  return DataError("the array's rows are ", NameOfField(rows.fields[0]), ", ", rows.row_bytes, " bytes, and those of ",
                   first_path, " are ", NameOfField(first.fields[0]), ", ", first.row_bytes,
                   " bytes; give files of one dtype and row shape");
}

absl::Status InFile(absl::Status error, std::string_view path) {
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

// The part of an archive that is the member's array.
absl::StatusOr<FixedTable::Part> PartOfMember(const RandomAccessFile& file, const std::string& path, int64_t size,
                                              const ZipMember& member, bool heads_alone) {
  if (member.encrypted) return DataError("it is encrypted; save it without a password");
  if (member.method != ZipMember::kStored && member.method != ZipMember::kDeflated) {
    return DataError("it is compressed by method ", member.method,
                     " of zip; write it with numpy.savez or savez_compressed");
  }
  HEADRACE_ASSIGN_OR_RETURN(const int64_t begin, BeginOfMember(file, size, member));
  NpyBytes bytes{&file, {}, begin, begin + member.packed_bytes};
  if (member.method == ZipMember::kDeflated) {
    bytes = {nullptr, {}, 0, member.bytes};
    if (heads_alone) {
      HEADRACE_ASSIGN_OR_RETURN(bytes.start, InflateStart(file, begin, member, kMostNpyHeadBytes));
    } else {
      HEADRACE_RETURN_IF_ERROR(CheckHeld(path, file, member.packed_bytes));
      HEADRACE_ASSIGN_OR_RETURN(bytes.unpacked, InflateMember(file, begin, member));
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(NpyRows found, FindNpyRows(bytes));
  if (found.rows > 0) HEADRACE_RETURN_IF_ERROR(CheckHeld(path, file, found.row_bytes));
  FixedTable::Part part{found.row_bytes, std::move(found.fields)};
  part.Add({0, found.begin, found.rows, 0, std::move(bytes.unpacked)});
  return part;
}

std::string_view NameOfMember(const ZipMember& member) {
  const std::string_view name = member.name;
  return name.substr(0, name.size() - kNpyEnding.size());
}

bool IsArray(const ZipMember& member) {
  const std::string_view name = member.name;
  return name.size() > kNpyEnding.size() && name.substr(name.size() - kNpyEnding.size()) == kNpyEnding;
}

// Whether the column of the member, or one of a field of it, is chosen.
bool Chooses(const NpzChoice& choice, std::string_view name) {
  return choice.all || std::any_of(choice.columns.begin(), choice.columns.end(),
                                   [&](std::string_view column) { return IsNpzColumnOf(column, name); });
}

// The members that are arrays.
absl::StatusOr<std::vector<ZipMember>> ReadArrayMembers(const RandomAccessFile& file, int64_t size) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ZipMember> members, ReadZipDirectory(file, size));
  std::erase_if(members, [](const ZipMember& member) { return !IsArray(member); });
  if (members.empty()) return DataError("the archive has no array, no member that ends with .npy");
  for (const ZipMember& member : members) {
    if (!IsUtf8(member.name)) return DataError("the name of the member ", member.name, " is not UTF-8; rename it");
  }
  return members;
}

absl::Status CheckColumns(const NpzChoice& choice, const std::vector<ZipMember>& members) {
  for (const std::string& column : choice.columns) {
    const auto of_it = [&](const ZipMember& member) { return IsNpzColumnOf(column, NameOfMember(member)); };
    if (std::any_of(members.begin(), members.end(), of_it)) continue;
    std::vector<std::string> names;
    for (const ZipMember& member : members) names.emplace_back(NameOfMember(member));
    return DataError("the archive has no array for the column \"", column, "\" (arrays: ", ListNpzArrays(names), ")");
  }
  return absl::OkStatus();
}

void NameColumns(std::string_view name, FixedTable::Part& part) {
  for (FixedField& field : part.fields)
    field.name = field.name.empty() ? std::string(name) : Cat(name, ".", field.name);
}

// `heads_alone`: what is compressed is not unpacked, so that no row can be read.
absl::StatusOr<FixedTable> ReadNpz(const FileSystem& files, const std::string& path, const NpzChoice& choice,
                                   bool heads_alone) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ZipMember> members, ReadArrayMembers(*file, size));
  if (!choice.all) HEADRACE_RETURN_IF_ERROR(CheckColumns(choice, members));
  std::vector<FixedTable::Part> parts;
  std::vector<std::string> names;
  for (const ZipMember& member : members) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    const std::string_view name = NameOfMember(member);
    if (!Chooses(choice, name)) continue;
    absl::StatusOr<FixedTable::Part> part = PartOfMember(*file, path, size, member, heads_alone);
    if (!part.ok()) return Reworded(part.status(), Cat("member ", member.name, ": ", part.status().message()));
    NameColumns(name, *part);
    parts.push_back(*std::move(part));
    names.push_back(Cat("the member ", member.name));
  }
  if (parts.empty()) return DataError("no column is chosen; name at least one array");
  return FixedTable::Of({{path, size}}, std::move(parts), names);
}

}  // namespace

absl::StatusOr<FixedTable> MakeNpyTable(const FileSystem& files, const std::vector<std::string>& paths) {
  std::vector<FixedTable::File> listed;
  FixedTable::Part part;
  NpyRows first;
  for (const std::string& path : paths) {
    if (absl::Status stop = Interrupt::Check(); !stop.ok()) return stop;
    int64_t size = 0;
    absl::StatusOr<NpyRows> found = ReadNpyFile(files, path, size);
    if (!found.ok()) return InFile(std::move(found).status(), path);
    if (listed.empty()) {
      first = *found;
      part.row_bytes = first.row_bytes;
      part.fields = first.fields;
    }
    if (absl::Status alike = CheckAlike(*found, first, paths[0]); !alike.ok()) return InFile(std::move(alike), path);
    part.Add({listed.size(), found->begin, found->rows});
    listed.push_back({path, size});
  }
  std::vector<FixedTable::Part> parts;
  parts.push_back(std::move(part));
  return FixedTable::Of(std::move(listed), std::move(parts), {"the array"});
}

absl::StatusOr<FixedTable> MakeNpzTable(const FileSystem& files, const std::string& path, const NpzChoice& choice) {
  absl::StatusOr<FixedTable> table = ReadNpz(files, path, choice, false);
  if (table.ok()) return table;
  return InFile(std::move(table).status(), path);
}

bool IsNpzColumnOf(std::string_view column, std::string_view array) {
  return column.substr(0, array.size()) == array && (column.size() == array.size() || column[array.size()] == '.');
}

std::string ListNpzArrays(absl::Span<const std::string> names) {
  std::string listed;
  for (size_t i = 0; i < names.size() && i < kArraysListed; ++i) Append(listed, i == 0 ? "" : ", ", names[i]);
  if (names.size() > kArraysListed) listed += ", …";
  return listed;
}

absl::StatusOr<std::vector<std::string>> FindNpzArrays(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  const absl::StatusOr<std::vector<ZipMember>> members = ReadArrayMembers(*file, size);
  if (!members.ok()) return InFile(members.status(), path);
  std::vector<std::string> names;
  for (const ZipMember& member : *members) names.emplace_back(NameOfMember(member));
  return names;
}

absl::StatusOr<std::vector<FixedField>> FindNpzFields(const FileSystem& files, const std::string& path,
                                                      const NpzChoice& choice) {
  const absl::StatusOr<FixedTable> table = ReadNpz(files, path, choice, true);
  if (!table.ok()) return InFile(table.status(), path);
  std::vector<FixedField> fields;
  for (const FixedTable::Part& part : table->parts())
    fields.insert(fields.end(), part.fields.begin(), part.fields.end());
  return fields;
}

}  // namespace headrace
