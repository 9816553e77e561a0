// A parser of CSV written by hand for one table, on one thread: it reads the mapped file from line to line, converts
// numbers with std::from_chars straight into the columns of a batch, and copies texts end to end. It knows
// that no field has quotes, and checks neither UTF-8 nor the number of fields. Prints megabytes a second.
//   bazel run -c opt //benchmarks:csv_loop -- FILE FIELDS...
// Each of FIELDS is f4, f8, i8 or text, with *N for N of them in one row: "f4*784 i8".
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kBatch = 1024;

struct Column {
  enum class Kind { kFloat32, kFloat64, kInt64, kText };
  Kind kind = Kind::kText;
  size_t fields = 1;
  std::vector<float> f4 = {};
  std::vector<double> f8 = {};
  std::vector<int64_t> i8 = {};
  std::vector<char> bytes = {};
  std::vector<int64_t> ends = {};
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

Column ColumnOf(const std::string& text) {
  Column column;
  const size_t star = text.find('*');
  const std::string kind = text.substr(0, star);
  if (star != std::string::npos) column.fields = std::stoul(text.substr(star + 1));
  using Kind = Column::Kind;
  column.kind = kind == "f4"   ? Kind::kFloat32
                : kind == "f8" ? Kind::kFloat64
                : kind == "i8" ? Kind::kInt64
                               : Kind::kText;
  return column;
}

void BeginBatch(Column& column) {
  const size_t values = kBatch * column.fields;
  const size_t bytes = column.bytes.size();
  const Column fresh{column.kind, column.fields};
  column = fresh;
  if (column.kind == Column::Kind::kFloat32) column.f4.resize(values);
  if (column.kind == Column::Kind::kFloat64) column.f8.resize(values);
  if (column.kind == Column::Kind::kInt64) column.i8.resize(values);
  if (column.kind == Column::Kind::kText) column.bytes.reserve(bytes + bytes / 8);
  column.ends.reserve(values);
}

template <typename T>
const char* ReadNumbers(const char* at, const char* end, size_t fields, T* target) {
  for (size_t i = 0; i < fields; ++i) {
    const auto [behind, wrong] = std::from_chars(at, end, target[i]);
    if (wrong != std::errc()) Fail("not a number");
    at = behind + 1;
  }
  return at;
}

const char* ReadTexts(const char* at, const char* end, Column& column) {
  for (size_t i = 0; i < column.fields; ++i) {
    const void* const found = std::memchr(at, ',', static_cast<size_t>(end - at));
    const char* const behind = found == nullptr ? end : static_cast<const char*>(found);
    column.bytes.insert(column.bytes.end(), at, behind);
    column.ends.push_back(static_cast<int64_t>(column.bytes.size()));
    at = behind + 1;
  }
  return at;
}

const char* ReadColumn(const char* at, const char* end, size_t row, Column& column) {
  switch (column.kind) {
    case Column::Kind::kFloat32:
      return ReadNumbers(at, end, column.fields, column.f4.data() + row * column.fields);
    case Column::Kind::kFloat64:
      return ReadNumbers(at, end, column.fields, column.f8.data() + row * column.fields);
    case Column::Kind::kInt64:
      return ReadNumbers(at, end, column.fields, column.i8.data() + row * column.fields);
    case Column::Kind::kText:
      return ReadTexts(at, end, column);
  }
  return at;
}

size_t Parse(std::string_view text, std::vector<Column>& columns) {
  size_t rows = 0;
  const char* at = text.data();
  const char* const stop = at + text.size();
  while (at < stop) {
    if (rows % kBatch == 0) {
      for (Column& column : columns) BeginBatch(column);
    }
    const void* const found = std::memchr(at, '\n', static_cast<size_t>(stop - at));
    const char* const end = found == nullptr ? stop : static_cast<const char*>(found);
    for (Column& column : columns) at = ReadColumn(at, end, rows % kBatch, column);
    at = end + 1;
    ++rows;
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) Fail("give a file and its fields");
  std::vector<Column> columns;
  for (int i = 2; i < argc; ++i) columns.push_back(ColumnOf(argv[i]));
  const int descriptor = open(argv[1], O_RDONLY);
  struct stat stat{};
  if (descriptor < 0 || fstat(descriptor, &stat) != 0) Fail("cannot open the file");
  const auto size = static_cast<size_t>(stat.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) Fail("cannot map the file");
  const auto begin = std::chrono::steady_clock::now();
  const size_t rows = Parse({static_cast<const char*>(mapped), size}, columns);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%zu rows, %.1f MB/s\n", rows, static_cast<double>(size) / 1e6 / seconds.count());
  return 0;
}
