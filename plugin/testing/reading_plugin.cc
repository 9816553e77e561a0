// A plugin for tests with sources and formats, some of which break the rules of the interface as the attribute `fault`
// says.
#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

namespace {

// A row is its number, the square of it, and as many bytes as the number says.
class Squares : public Source {
 public:
  static Declaration Declared() {
    Declaration declaration("Squares", 3, "Gives squares of whole numbers.");
    declaration.Doc("Columns: `number` (int64), `square` (float32, (1,)), `text` (string).\nErrors: odd rows.");
    declaration.Example("readops.Squares(10)");
    declaration.Int("rows", "How many.").Minimum(0);
    declaration.Int("real_rows", "How many there are at the end; None: all.").Default("None").Nullable();
    declaration.Text("fault", "What goes wrong.").Default("''");
    declaration.Text("log", "A file that gets a byte for each row that is read, its number; '': none.").Default("''");
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes& given) {
    const std::string fault = given.Text("fault");
    if (fault == "no column") return {};
    if (fault == "columns throws") throw std::runtime_error("no columns today");
    if (fault == "column twice") return {{"number", {HEADRACE_INT64, Shape{}}}, {"number", {HEADRACE_INT64, Shape{}}}};
    if (fault == "column dtype") return {{"number", {77, Shape{}}}};
    if (fault == "column length") return {{"number", {HEADRACE_INT64, Shape{-2}}}};
    if (fault == "column name") return {{"", {HEADRACE_INT64, Shape{}}}};
    return {{"number", {HEADRACE_INT64, Shape{}}},
            {"square", {HEADRACE_FLOAT32, Shape{1}}},
            {"text", {HEADRACE_STRING, Shape{}}}};
  }
  explicit Squares(const Attributes& given)
      : rows_(given.Int("rows")),
        real_rows_(given.IsNone("real_rows") ? rows_ : given.Int("real_rows")),
        fault_(given.Text("fault")),
        log_(given.Text("log")) {
    if (rows_ == 13) throw Error(HEADRACE_GRAPH_ERROR, "does not count to 13");
  }
  uint64_t Rows() const { return fault_ == "too many" ? UINT64_MAX : static_cast<uint64_t>(rows_); }
  uint64_t Fingerprint() const { return fault_ == "other data" ? 2 : 1; }
  void Read(uint64_t row, Outputs& outputs) const {
    const auto number = static_cast<int64_t>(row);
    if (!log_.empty()) std::ofstream(log_, std::ios::app) << static_cast<char>(number);
    if (number >= real_rows_) throw Error(HEADRACE_DATA_ERROR, "has no row " + std::to_string(row) + " any more");
    if (number == 3 && fault_ == "throws") throw std::out_of_range("row");
    if (number == 3 && fault_ == "not found") throw Error(HEADRACE_NOT_FOUND_ERROR, "misses a file");
    if (number == 3 && fault_ == "no output") return;
    *outputs.Allocate<int64_t>(0, fault_ == "shape" ? Shape{2} : Shape{}) = number;
    if (number == 3 && fault_ == "dtype") outputs.Allocate<double>(1, {1});
    *outputs.Allocate<float>(1, {1}) = static_cast<float>(number * number);
    outputs.GiveStrings(2, HEADRACE_STRING, {}, {std::string(row % 5, 'x')});
  }

 private:
  int64_t rows_;
  int64_t real_rows_;
  std::string fault_;
  std::string log_;
};

constexpr uint32_t kMagic = 0x4D415246;  // "FRAM"
constexpr int64_t kHead = 8;

// Frames: the mark, the length of the record, and the record. One that begins with '!' is damaged.
class Frames : public Format {
 public:
  static Declaration Declared() {
    Declaration declaration("Frames", 2, "Gives the records of files of frames.");
    declaration.Example("readops.Frames(\"corpus/*.frames\")");
    declaration.Text("fault", "What goes wrong.").Default("''");
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) { return {{"record", {HEADRACE_BYTES, Shape{}}}}; }
  explicit Frames(const Attributes& given) : fault_(given.Text("fault")) {
    if (fault_ == "create") throw Error(HEADRACE_GRAPH_ERROR, "cannot work so");
  }
  int64_t Find(File& file, int64_t byte) const {
    if (fault_ == "find throws") throw std::runtime_error("no place");
    if (fault_ == "find behind" && byte > 0) return byte - 1;
    if (fault_ == "find beyond") return file.size() + 1;
    constexpr int64_t kLook = 64;
    for (const int64_t size = file.size(); byte < size; byte += kLook - 3) {
      const std::string bytes = file.Read(byte, static_cast<uint64_t>(std::min(kLook, size - byte)));
      const size_t at = bytes.find("FRAM");
      if (at != std::string::npos) return byte + static_cast<int64_t>(at);
    }
    return file.size();
  }

  class Reader {
   public:
    Reader(const Frames& format, File&, int64_t begin, int64_t end) : fault_(format.fault_), at_(begin), end_(end) {
      if (fault_ == "open throws") throw std::runtime_error("no reader");
    }
    bool Next(File& file, FileRow& row) {
      const bool goes_on = fault_ == "never ends" && at_ < file.size();
      if (at_ >= end_ && !goes_on) return false;
      if (file.Number<uint32_t>(at_) != kMagic) throw Error(HEADRACE_DATA_ERROR, "finds no frame");
      const int64_t begin = at_;
      const std::string record = file.Read(begin + kHead, file.Number<uint32_t>(begin + 4));
      at_ = begin + kHead + static_cast<int64_t>(record.size());
      if (fault_ == "overlaps" && record == "two") row.Begin(begin - 1, at_);
      if (fault_ == "empty" && record == "two") row.Begin(begin, begin);
      if (fault_ == "beyond" && record == "two") row.Begin(begin, file.size() + 1);
      if (fault_ == "before begin" && record == "two") row.Allocate<int64_t>(0, {});
      if (fault_ == "next throws" && record == "two") throw std::out_of_range("frame");
      if (fault_ == "without begin" && record == "two") return true;
      row.Begin(begin, at_);
      if (fault_ == "twice" && record == "two") row.Begin(begin, at_);
      if (fault_ == "none" && record == "two") return false;
      if (fault_ == "no output" && record == "two") return true;
      if (fault_ == "dtype" && record == "two") row.Allocate<int64_t>(0, {});
      if (fault_ == "row throws" && record == "two") throw std::out_of_range("record");
      if (record[0] == '!') throw Error(HEADRACE_DATA_ERROR, "is damaged");
      row.GiveStrings(0, HEADRACE_BYTES, {}, {record});
      return true;
    }

   private:
    std::string fault_;
    int64_t at_;
    int64_t end_;
  };

 private:
  std::string fault_;
};

// Numbers of one byte after a header, each of which is the sum of those before, so that a file is read from its start.
class Sums : public Format {
 public:
  static Declaration Declared() { return Declaration("Sums", 1, "Gives the sums of bytes."); }
  static std::vector<Column> Columns(const Attributes&) { return {{"sum", {HEADRACE_INT64, Shape{}}}}; }
  explicit Sums(const Attributes&) {}
  class Reader {
   public:
    Reader(const Sums&, File&, int64_t begin, int64_t end) : at_(begin), end_(end) {}
    bool Next(File& file, FileRow& row) {
      if (at_ >= end_) return false;
      sum_ += file.Number<uint8_t>(at_);
      row.Begin(at_, at_ + 1);
      *row.Allocate<int64_t>(0, {}) = sum_;
      ++at_;
      return true;
    }

   private:
    int64_t sum_ = 0;
    int64_t at_;
    int64_t end_;
  };
};

}  // namespace

HEADRACE_PLUGIN("readops", "1.0", "Sources and formats for tests.", Squares, Frames, Sums)
