// A plugin for Headrace with a source, whose rows are made by number, and a format, which reads files of readings.
#include <algorithm>
#include <cmath>

#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

namespace {

class Waves : public Source {
 public:
  static Declaration Declared() {
    Declaration declaration("Waves", 1, "Gives sine waves, each of another frequency.");
    declaration.Doc("Column: `wave` (float32, (length,)); row i has i + 1 periods.");
    declaration.Example("gauge.Waves(1000, shuffle=True)");
    declaration.Int("rows", "How many waves.").Minimum(0);
    declaration.Int("length", "How many values a wave has.").Default("256").Minimum(1);
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes& attributes) {
    return {{"wave", {HEADRACE_FLOAT32, Shape{attributes.Int("length")}}}};
  }
  explicit Waves(const Attributes& attributes) : rows_(attributes.Int("rows")), length_(attributes.Int("length")) {}

  uint64_t Rows() const { return static_cast<uint64_t>(rows_); }
  void Read(uint64_t row, Outputs& outputs) const {
    const double step = 2 * M_PI * static_cast<double>(row + 1) / static_cast<double>(length_);
    float* wave = outputs.Allocate<float>(0, {length_});
    for (int64_t i = 0; i < length_; ++i) wave[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  }

 private:
  int64_t rows_, length_;
};

// A file is the eight bytes "GAUGE001", and readings: a time, int64, and a float32 of each channel.
class Readings : public Format {
 public:
  static Declaration Declared() {
    Declaration declaration("Readings", 1, "Gives the readings of gauges, one row each.");
    declaration.Doc(
        "Columns: `time` (int64, ()) and `values` (float32, (channels,)).\nErrors: a file that does not begin with "
        "GAUGE001; of a row, a value that is not finite.");
    declaration.Example("gauge.Readings(\"river/*.gauge\", channels=2, shuffle=True)");
    declaration.Int("channels", "How many values a reading has.").Default("1").Minimum(1).Maximum(1000);
    return declaration;
  }
  static std::vector<Column> Columns(const Attributes& attributes) {
    return {{"time", {HEADRACE_INT64, Shape{}}}, {"values", {HEADRACE_FLOAT32, Shape{attributes.Int("channels")}}}};
  }
  explicit Readings(const Attributes& attributes) : channels_(attributes.Int("channels")), bytes_(8 + 4 * channels_) {}

  // The next multiple of a reading's size after the head: so files are read in splits.
  int64_t Find(File& file, int64_t byte) const {
    const int64_t number = byte <= kHead ? 0 : (byte - kHead + bytes_ - 1) / bytes_;
    return std::min(file.size(), kHead + number * bytes_);
  }

  class Reader {
   public:
    Reader(const Readings& format, File& file, int64_t begin, int64_t end) : format_(format), at_(begin), end_(end) {
      if (file.Read(0, kHead) != "GAUGE001") throw Error(HEADRACE_DATA_ERROR, "finds no GAUGE001 at its beginning");
    }
    bool Next(File& file, FileRow& row) {
      if (at_ >= end_) return false;
      const int64_t begin = at_;
      const std::string reading = file.Read(begin, static_cast<uint64_t>(format_.bytes_));
      row.Begin(begin, at_ += format_.bytes_);
      std::memcpy(row.Allocate<int64_t>(0, {}), reading.data(), 8);
      float* values = row.Allocate<float>(1, {format_.channels_});
      std::memcpy(values, reading.data() + 8, reading.size() - 8);
      for (int64_t i = 0; i < format_.channels_; ++i) {
        if (!std::isfinite(values[i])) throw Error(HEADRACE_DATA_ERROR, "holds a value that is not finite");
      }
      return true;
    }

   private:
    const Readings& format_;
    int64_t at_, end_;
  };

 private:
  static constexpr int64_t kHead = 8;
  int64_t channels_, bytes_;
};

}  // namespace

HEADRACE_PLUGIN("gauge", "1.0", "Waves, and readings of gauges.", Waves, Readings)
