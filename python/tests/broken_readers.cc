// A plugin for python/tests/test_check_readers.py: a source and two formats that keep the rules, and others that break
// one each.
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

namespace {

// Leaks are written to, or the compiler leaves them out.
void Leak(size_t bytes) { static_cast<volatile char*>(std::malloc(bytes))[0] = 1; }

int64_t ThreadNumber() {
  static std::atomic<int64_t> threads{0};
  static thread_local const int64_t number = threads++;
  return number;
}

// ---- Sources: row i is the number i, as int64, and a text ----

enum class SourceFault {
  kRight,
  kOtherShape,
  kChangesColumns,
  kNoRows,
  kRefusesFour,
  kLooksUp,
  kDividesByRows,
  kCountsOpens,
  kOtherFingerprint,
  kStreams,
  kSeeksBehind,
  kOverruns,
  kUnwritten,
  kIgnores,
  kSharedBuffer,
  kCountsThreads,
  kLeaks,
  kKeeps,
  kKeepsFiles,
  kSilent,
};
constexpr const char* kSourceNames[] = {
    "RightSource",  "OtherShape",       "ChangesColumns", "NoRows",      "RefusesFour", "LooksUp",   "DividesByRows",
    "CountsOpens",  "OtherFingerprint", "Streams",        "SeeksBehind", "Overruns",    "Unwritten", "Ignores",
    "SharedBuffer", "CountsThreads",    "Leaks",          "Keeps",       "KeepsFiles",  "Silent",
};

template <SourceFault kFault>
class Numbers : public Source {
 public:
  static Declaration Declared() {
    const char* const name = kSourceNames[static_cast<int>(kFault)];
    Declaration declaration(name, 1, "Gives numbers.");
    declaration.Int("rows", "How many.")
        .Default(kFault == SourceFault::kNoRows ? "0" : "23")
        .Minimum(0)
        .Maximum(1000000);
    declaration.Int("size", "Any.").Default("1");
    if constexpr (kFault != SourceFault::kLooksUp) declaration.Minimum(0).Maximum(4);
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) {
    static int calls = 0;
    const bool other = kFault == SourceFault::kChangesColumns && ++calls > 1;
    return {{"number", {HEADRACE_INT64, Shape{1}}}, {other ? "name" : "text", {HEADRACE_STRING, Shape{}}}};
  }
  explicit Numbers(const Attributes& given) : rows_(given.Int("rows")) {
    static std::atomic<int64_t> opens{0};
    const int64_t size = given.Int("size");
    if (kFault == SourceFault::kRefusesFour && size == 4) throw Error(HEADRACE_GRAPH_ERROR, "has no table 4");
    static const char table[] = "table";
    if (kFault == SourceFault::kLooksUp && static_cast<const volatile char*>(table)[size] == 'x') return;
    if (kFault == SourceFault::kDividesByRows) bucket_ = 1000 / *static_cast<const volatile int64_t*>(&rows_);
    if (kFault == SourceFault::kCountsOpens) rows_ += ++opens;
    if (kFault == SourceFault::kOtherFingerprint) fingerprint_ = static_cast<uint64_t>(++opens);
    if (kFault == SourceFault::kKeeps) Leak(100);
    if (kFault == SourceFault::kKeepsFiles && open("/dev/null", O_RDONLY) < 0) return;
  }
  uint64_t Rows() const { return static_cast<uint64_t>(rows_); }
  uint64_t Fingerprint() const { return fingerprint_; }

  void Read(uint64_t row, Outputs& outputs) const {
    static std::atomic<int64_t> next{0};
    static std::atomic<int64_t> buffer{0};
    auto number = static_cast<int64_t>(row);
    if (kFault == SourceFault::kStreams) number = next++;
    if (kFault == SourceFault::kSeeksBehind) {
      // Right in order, and from the start.
      if (number != 0 && number != next) ++number;
      next = static_cast<int64_t>(row) + 1;
    }
    if (kFault == SourceFault::kCountsThreads) number += ThreadNumber();
    if (kFault == SourceFault::kLeaks) Leak(40);
    // What a host gave would have its text.
    if (kFault == SourceFault::kSilent && row == 5) throw Refused{HEADRACE_DATA_ERROR};
    buffer = number;
    int64_t* const to = Place(outputs, kFault == SourceFault::kOtherShape ? Shape{2} : Shape{1});
    if (kFault == SourceFault::kSharedBuffer) number = buffer;
    if (kFault != SourceFault::kUnwritten) *to = number;
    if (kFault == SourceFault::kOverruns) reinterpret_cast<volatile char*>(to)[8] = 1;
    outputs.GiveStrings(1, HEADRACE_STRING, {}, {std::string(row % 3, 'x')});
  }

 private:
  static int64_t* Place(Outputs& outputs, const Shape& shape) {
    try {
      return outputs.Allocate<int64_t>(0, shape);
    } catch (const Refused&) {
      if (kFault != SourceFault::kIgnores) throw;
      return nullptr;
    }
  }

  int64_t rows_;
  int64_t bucket_ = 0;
  uint64_t fingerprint_ = 1;
};

// A column of every dtype, lengths that differ from row to row, and rows that are errors.
class Types : public Source {
 public:
  static Declaration Declared() {
    Declaration declaration("RightTypes", 1, "Gives rows of all types.");
    declaration.Int("rows", "How many.").Minimum(0);
    declaration.Text("kind", "Any.").Default("'a'").Choices({"a", "b"});
    declaration.Example("brokenreaders.RightTypes(200, kind='b', shuffle=True)");
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) {
    std::vector<Column> columns;
    for (int32_t dtype = HEADRACE_BOOL; dtype <= HEADRACE_STRING; ++dtype) {
      columns.push_back({"column" + std::to_string(dtype), {dtype, Shape{2, -1}}});
    }
    columns.push_back({"any", {}});
    return columns;
  }
  explicit Types(const Attributes& given) : rows_(given.Int("rows")) {}
  uint64_t Rows() const { return static_cast<uint64_t>(rows_); }
  void Read(uint64_t row, Outputs& outputs) const {
    if (row % 16 == 7) throw Error(HEADRACE_DATA_ERROR, "has no row " + std::to_string(row));
    static constexpr size_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    const auto length = static_cast<int64_t>(row % 3);
    for (int32_t dtype = HEADRACE_BOOL; dtype <= HEADRACE_FLOAT64; ++dtype) {
      void* const to = outputs.Allocate(static_cast<uint32_t>(dtype - 1), dtype, {2, length});
      std::memset(to, static_cast<int>(row % 5), kBytes[dtype] * 2 * static_cast<size_t>(length));
    }
    const std::vector<std::string> texts(static_cast<size_t>(2 * length), std::string(row % 4, 'x'));
    outputs.GiveStrings(HEADRACE_BYTES - 1, HEADRACE_BYTES, {2, length}, texts);
    outputs.GiveStrings(HEADRACE_STRING - 1, HEADRACE_STRING, {2, length}, texts);
    if (row % 2 == 0) *outputs.Allocate<double>(HEADRACE_STRING, {}) = 0.5;
    if (row % 2 == 1) outputs.GiveStrings(HEADRACE_STRING, HEADRACE_STRING, {}, {"text"});
  }

 private:
  int64_t rows_;
};

// Rows that differ each time, as of a camera.
class Sensor : public Source {
 public:
  static Declaration Declared() {
    Declaration declaration("RightSensor", 1, "Gives another number each time.");
    declaration.Int("rows", "How many.").Default("23").Minimum(1);
    declaration.NotDeterministic();
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) { return {{"number", {HEADRACE_INT64, Shape{}}}}; }
  explicit Sensor(const Attributes& given) : rows_(given.Int("rows")) {}
  uint64_t Rows() const { return static_cast<uint64_t>(rows_); }
  void Read(uint64_t, Outputs& outputs) const {
    static std::atomic<int64_t> next{0};
    *outputs.Allocate<int64_t>(0, {}) = next++;
  }

 private:
  int64_t rows_;
};

// Rows that take long.
class Slow : public Source {
 public:
  static Declaration Declared() {
    Declaration declaration("RightSlow", 1, "Gives numbers, slowly.");
    declaration.Int("milliseconds", "Of a row.").Default("90").Minimum(0).Maximum(1000);
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) { return {{"number", {HEADRACE_INT64, Shape{}}}}; }
  explicit Slow(const Attributes& given) : wait_(given.Int("milliseconds")) {}
  uint64_t Rows() const { return 23; }
  void Read(uint64_t row, Outputs& outputs) const {
    std::this_thread::sleep_for(wait_);
    *outputs.Allocate<int64_t>(0, {}) = static_cast<int64_t>(row);
  }

 private:
  std::chrono::milliseconds wait_;
};

// ---- Formats: "NUMBERS1", and records of eight bytes: int32, the length of a text up to 3, and the text ----

enum class FormatFault {
  kRight,
  kNoSample,
  kOtherType,
  kRefusesFour,
  kFindsNext,
  kOwnsByEnd,
  kRunsOn,
  kAddsUp,
  kDivides,
  kLoops,
  kTrustsLength,
  kAborts,
  kThrowsOther,
  kSpoilsNext,
  kReadsItself,
  kKeepsContents,
  kOverruns,
  kUnwritten,
  kIgnores,
  kSharedPlace,
  kOneHead,
  kCountsThreads,
  kLeaks,
  kKeeps,
  kLeaksOnError,
  kSilent,
};
constexpr const char* kFormatNames[] = {
    "RightFormat",   "NoSample",      "OtherType",    "RefusesFourths", "FindsNext",     "OwnsByEnd",   "RunsOn",
    "AddsUp",        "Divides",       "Loops",        "TrustsLength",   "Aborts",        "ThrowsOther", "SpoilsNext",
    "ReadsItself",   "KeepsContents", "OverrunsRows", "UnwrittenRows",  "IgnoresErrors", "SharedPlace", "OneHead",
    "CountsReaders", "LeaksRows",     "KeepsReaders", "LeaksOnError",   "SilentRows",
};
constexpr int64_t kHead = 8, kRecord = 8;

template <FormatFault kFault>
class Records : public Format {
 public:
  static Declaration Declared() {
    const char* const name = kFormatNames[static_cast<int>(kFault)];
    Declaration declaration(name, 1, "Gives numbers of files.");
    const std::string example = std::string("brokenreaders.") + name + "('numbers.bin')";
    if constexpr (kFault != FormatFault::kNoSample) declaration.Example(example.c_str());
    declaration.Int("size", "Any.").Default("1").Minimum(0).Maximum(4);
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) {
    return {{"number", {HEADRACE_INT32, Shape{1}}}, {"text", {HEADRACE_BYTES, Shape{}}}};
  }
  explicit Records(const Attributes& given) {
    if (kFault == FormatFault::kRefusesFour && given.Int("size") == 4)
      throw Error(HEADRACE_GRAPH_ERROR, "has no table 4");
  }

  int64_t Find(File& file, int64_t byte) const {
    const int64_t at = kFault == FormatFault::kFindsNext && byte > kHead ? byte + 1 : byte;
    const int64_t number = at <= kHead ? 0 : (at - kHead + kRecord - 1) / kRecord;
    return std::min(file.size(), kHead + number * kRecord);
  }

  class Reader {
   public:
    Reader(const Records&, File& file, int64_t begin, int64_t end) : at_(begin), end_(end) {
      if (kFault == FormatFault::kSharedPlace) Shared() = begin;
      static bool head = true;
      if (kFault == FormatFault::kOneHead && !std::exchange(head, false)) at_ = std::min(at_ + kRecord, end_);
      if (kFault == FormatFault::kReadsItself) return;
      if (kFault == FormatFault::kKeeps) Leak(100);
      if (kFault == FormatFault::kDivides) share_ = 1000 / *Volatile((file.size() - kHead) / kRecord);
      if (Bytes(file, 0, kHead) != "NUMBERS1") throw Error(HEADRACE_DATA_ERROR, "finds no NUMBERS1 at its beginning");
    }

    bool Next(File& file, FileRow& row) {
      int64_t& at = kFault == FormatFault::kSharedPlace ? Shared() : at_;
      if (kFault == FormatFault::kRunsOn ? at > end_ || at >= file.size() : at >= end_) return false;
      if (kFault == FormatFault::kOwnsByEnd && at + kRecord > end_ && end_ < file.size()) return false;
      while (kFault == FormatFault::kLoops && at + kRecord > file.size()) at_ = *Volatile(at_);
      // What is taken is not freed if the file ends.
      char* const kept = kFault == FormatFault::kLeaksOnError ? static_cast<char*>(std::malloc(40)) : nullptr;
      if (kept != nullptr) static_cast<volatile char*>(kept)[0] = 1;
      const std::string record = Bytes(file, at, kRecord);
      std::free(kept);
      row.Begin(at, at + kRecord);
      at += kRecord;
      int32_t number = 0;
      std::memcpy(&number, record.data(), sizeof(number));
      const auto length = static_cast<uint8_t>(record[4]);
      Judge(length);
      if (kFault == FormatFault::kAddsUp) number = sum_ += number;
      if (kFault == FormatFault::kCountsThreads) number += static_cast<int32_t>(ThreadNumber());
      if (kFault == FormatFault::kSpoilsNext) number += Spoilt();
      if (kFault == FormatFault::kLeaks) Leak(40);
      Give(row, number, record.substr(5, length));
      return true;
    }

   private:
    static const volatile int64_t* Volatile(int64_t value) {
      static thread_local volatile int64_t kept;
      kept = value;
      return &kept;
    }
    // The place of all readers.
    static int64_t& Shared() {
      static int64_t at = 0;
      return at;
    }
    static int32_t& Spoilt() {
      static int32_t spoilt = 0;
      return spoilt;
    }
    static std::string Bytes(File& file, int64_t offset, int64_t bytes) {
      if (kFault == FormatFault::kReadsItself) {
        std::ifstream own("numbers.bin");
        const std::string all((std::istreambuf_iterator<char>(own)), std::istreambuf_iterator<char>());
        return all.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes));
      }
      if (kFault == FormatFault::kKeepsContents) {
        static const std::string all = file.Read(0, static_cast<uint64_t>(file.size()));
        file.Read(offset, static_cast<uint64_t>(bytes));
        return all.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes));
      }
      return file.Read(offset, static_cast<uint64_t>(bytes));
    }
    static void Judge(uint8_t length) {
      if (length <= 3) return;
      if (kFault == FormatFault::kAborts) std::abort();
      if (kFault == FormatFault::kSilent) throw Refused{HEADRACE_DATA_ERROR};
      if (kFault == FormatFault::kThrowsOther) std::string().at(length);
      if (kFault == FormatFault::kTrustsLength) std::string(static_cast<size_t>(length) << 26, 'x').back() = 1;
      if (kFault == FormatFault::kSpoilsNext) Spoilt() = 1;
      throw Error(HEADRACE_DATA_ERROR, "holds a text of " + std::to_string(length) + " bytes");
    }
    static void Give(FileRow& row, int32_t number, const std::string& text) {
      int32_t* to = nullptr;
      try {
        if (kFault == FormatFault::kOtherType) row.Allocate<int64_t>(0, {1});
        to = row.Allocate<int32_t>(0, {1});
      } catch (const Refused&) {
        if (kFault != FormatFault::kIgnores) throw;
      }
      if (kFault != FormatFault::kUnwritten) *static_cast<volatile int32_t*>(to) = number;
      if (kFault == FormatFault::kOverruns) reinterpret_cast<volatile char*>(to)[4] = 1;
      row.GiveStrings(1, HEADRACE_BYTES, {}, {text});
    }

    int64_t at_, end_, share_ = 0;
    int32_t sum_ = 0;
  };
};

// The same records, each number the sum of those up to it, so that a file is read from its start.
class Sums : public Format {
 public:
  static Declaration Declared() {
    Declaration declaration("RightWhole", 1, "Gives sums.");
    declaration.Example("brokenreaders.RightWhole(['numbers.bin', 'more/*.bin'])");
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes&) { return {{"sum", {HEADRACE_INT64, Shape{}}}}; }
  explicit Sums(const Attributes&) {}
  class Reader {
   public:
    Reader(const Sums&, File& file, int64_t, int64_t end) : end_(end) {
      if (file.Read(0, kHead) != "NUMBERS1") throw Error(HEADRACE_DATA_ERROR, "finds no NUMBERS1 at its beginning");
    }
    bool Next(File& file, FileRow& row) {
      if (at_ >= end_) return false;
      sum_ += file.Number<int32_t>(at_);
      row.Begin(at_, std::min(at_ + kRecord, end_));
      at_ += kRecord;
      *row.Allocate<int64_t>(0, {}) = sum_;
      return true;
    }

   private:
    int64_t at_ = kHead, end_, sum_ = 0;
  };
};

}  // namespace

#define S(name) Numbers<SourceFault::k##name>
#define F(name) Records<FormatFault::k##name>
#ifdef FEW
HEADRACE_PLUGIN("brokenreaders", "1", "Sources and formats for tests.", Types, Sensor, Slow, Sums, S(Right),
                S(SeeksBehind), S(Keeps), F(Right), F(AddsUp), F(Loops), F(Aborts), F(LeaksOnError))
#else
HEADRACE_PLUGIN("brokenreaders", "1", "Sources and formats for tests.", Types, Sensor, Slow, Sums, S(Right),
                S(OtherShape), S(ChangesColumns), S(NoRows), S(RefusesFour), S(LooksUp), S(DividesByRows),
                S(CountsOpens), S(OtherFingerprint), S(Streams), S(SeeksBehind), S(Overruns), S(Unwritten), S(Ignores),
                S(SharedBuffer), S(CountsThreads), S(Leaks), S(Keeps), S(KeepsFiles), S(Silent), F(Right), F(NoSample),
                F(OtherType), F(RefusesFour), F(FindsNext), F(OwnsByEnd), F(RunsOn), F(AddsUp), F(Divides), F(Loops),
                F(TrustsLength), F(Aborts), F(ThrowsOther), F(SpoilsNext), F(ReadsItself), F(KeepsContents),
                F(Overruns), F(Unwritten), F(Ignores), F(SharedPlace), F(OneHead), F(CountsThreads), F(Leaks), F(Keeps),
                F(LeaksOnError), F(Silent))
#endif
