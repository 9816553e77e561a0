#include "ops/source/testing/source_format.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"
#include "io/formats/recordio/testing/record_bytes.h"
#include "io/formats/tar/testing/tar_bytes.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "ir/graph.pb.h"
#include "kernels/plugin/plugin_library.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ir::StringValue;
using Records = SourceFormat::Records;
using InSet = SourceFormat::InSet;

constexpr PartBorders kLineBorders = {1, true};
constexpr PartBorders kRecordBorders = {4, false};

// Claims more bytes than a file has.
std::string LongRecordHead() { return std::string("\x0a\x23\xd7\xce\x40\0\0\0claims more", 20); }

using RowOfRecord = std::function<std::string(const std::string& record)>;

// Shows a column of texts or bytes with the record.
RowOfRecord ColumnOf(std::string_view name) {
  return [name = std::string(name)](const std::string& record) { return Cat(name, "='", record, "'"); };
}

// Of lines, each made of a record.
SourceFormat LineFormatOf(std::string op, std::function<std::string(const std::string& record)> line, RowOfRecord row,
                          std::string damage) {
  SourceFormat format;
  format.name = op;
  format.op = std::move(op);
  format.paths = "patterns";
  format.encode = [line = std::move(line)](const Records& records, const InSet&) {
    std::string bytes;
    for (const std::string& record : records) Append(bytes, line(record), "\n");
    return bytes;
  };
  format.row = std::move(row);
  format.borders = kLineBorders;
  format.damage = std::move(damage);
  format.cut_may_be_a_row = true;
  return format;
}

SourceFormat TextLines() {
  return LineFormatOf("Text", [](const std::string& record) { return record; }, ColumnOf("line"), "\xFF\xFE no text\n");
}

SourceFormat JsonObjects() {
  SourceFormat format = LineFormatOf(
      "JsonLines", [](const std::string& record) { return Cat("{\"v\":\"", record, "\"}"); }, ColumnOf("v"),
      "{no JSON\n");
  format.more = {{"fields", StringsValue({"v string"})}};
  return format;
}

SourceFormat CsvRows() {
  SourceFormat format = LineFormatOf(
      "Csv", [](const std::string& record) { return Cat("\"", record, "\",", record.size()); },
      [](const std::string& record) { return Cat("v='", record, "', n=", record.size()); }, "no quotes\",1\n");
  format.more = {{"fields", StringsValue({"v string", "n int64"})}, {"header", BoolValue(false)}};
  return format;
}

// A number of four digits for a text, which float32 shows as they are.
uint64_t NumberOf(const std::string& record) {
  uint64_t hash = record.size();
  for (const char c : record) hash = MixKey(hash, static_cast<uint8_t>(c));
  return 1000 + hash % 9000;
}

SourceFormat LibSvmRows() {
  return LineFormatOf(
      "LibSvm",
      // Blanks make it longer, as the record is.
      [](const std::string& record) {
        return Cat(NumberOf(record), " ", record.size(), ":", NumberOf(record), std::string(record.size(), ' '));
      },
      [](const std::string& record) {
        return Cat("label=", NumberOf(record), ", index=int64 (1,) [", record.size(), "], value=float32 (1,) [",
                   NumberOf(record), "]");
      },
      "no number\n");
}

SourceFormat RecordFiles() {
  SourceFormat format;
  format.name = format.op = "RecordFile";
  format.paths = "paths";
  format.encode = [](const Records& records, const InSet&) { return RecordBytes(records); };
  format.row = ColumnOf("record");
  format.borders = kRecordBorders;
  format.damage = LongRecordHead();
  format.damage_is_a_row = false;
  // A record whose end is no beginning of another is not given.
  format.held_back = 1;
  return format;
}

SourceFormat ImageRecords() {
  SourceFormat format = RecordFiles();
  format.name = format.op = "ImageRecord";
  format.encode = [](const Records& records, const InSet&) {
    std::vector<std::string> payloads;
    for (const std::string& record : records) payloads.push_back(ImagePayload(7, {1}, record));
    return RecordBytes(payloads);
  };
  format.row = ColumnOf("image");
  format.more = {{"columns", StringsValue({"image"})}};
  return format;
}

// A TFRecord whose payload was changed.
std::string ChecksumOfAnother(std::string frame) {
  frame.back() ^= 1;
  return frame;
}

SourceFormat TfExamples() {
  SourceFormat format;
  format.name = format.op = "TFRecord";
  format.paths = "paths";
  format.encode = [](const Records& records, const InSet&) {
    std::vector<std::string> payloads;
    for (const std::string& record : records) payloads.push_back(ExampleBytes({{"v", BytesFeature({record})}}));
    return TfRecordBytes(payloads);
  };
  format.row = ColumnOf("v");
  format.more = {{"fields", ir::ColumnsValue({{{"v", ir::ColumnType::Of(DType::kString, {})}}})}};
  format.whole_files = true;
  format.damage = ChecksumOfAnother(TfRecordBytes({"damaged"}));
  format.checked = true;
  return format;
}

SourceFormat TarSamples() {
  SourceFormat format;
  format.name = format.op = "WebDataset";
  format.paths = "paths";
  format.encode = [](const Records& records, const InSet&) {
    TarFiles files;
    for (size_t i = 0; i < records.size(); ++i) files.emplace_back(Cat("s", i, ".v"), records[i]);
    return TarBytes(files);
  };
  format.row = ColumnOf("v");
  format.more = {{"fields", StringsValue({"v bytes ()"})}, {"readings", StringsValue({"bytes"})}};
  format.whole_files = true;
  // A sample ends where the next one begins.
  format.held_back = 1;
  return format;
}

SourceFormat MindRows() {
  SourceFormat format;
  format.name = format.op = "MindRecord";
  format.paths = "paths";
  format.encode = [](const Records& records, const InSet& place) {
    MindBytesOptions options;
    // Three pages of rows, or fewer.
    options.rows_in_page = std::max<size_t>(4, records.size() / 3 + 1);
    size_t longest = 0;
    for (const std::string& record : records) longest = std::max(longest, record.size());
    // Before a row is its length, and the numbers of all rows have a page together.
    options.page_size = static_cast<int64_t>(options.rows_in_page * (longest + 100) + 4096);
    options.shard_addresses.clear();
    for (size_t file = 0; file < place.files; ++file) options.shard_addresses.push_back(Cat("f", file));
    options.shard_id = static_cast<int>(place.file);
    std::vector<MindBytesRow> rows;
    for (const std::string& record : records) {
      rows.push_back(MindLabelRow(static_cast<int64_t>(record.size()), record));
    }
    return MindFileBytes(rows, options);
  };
  format.row = [](const std::string& record) { return Cat("data='", record, "', label=", record.size()); };
  format.more = {{"fields", StringsValue({"data bytes", "label int32"})},
                 {"one", BoolValue(false)},
                 {"index", StringValue("build")}};
  format.keeps_items = true;
  format.in_order = false;
  return format;
}

SourceFormat PluginFrames() {
  SourceFormat format;
  format.name = "Frames";
  format.op = "readops.Frames";
  format.paths = "patterns";
  format.encode = [](const Records& records, const InSet&) {
    std::string bytes;
    for (const std::string& record : records) {
      const auto length = static_cast<uint32_t>(record.size());
      bytes.append("FRAM").append(reinterpret_cast<const char*>(&length), sizeof(length)).append(record);
    }
    return bytes;
  };
  format.row = ColumnOf("record");
  format.damage = format.encode({"! is damaged"}, {});
  return format;
}

SourceFormat Numbered(SourceFormat format, ir::proto::Value index) {
  format.name += "ByNumber";
  format.more.emplace_back("index", std::move(index));
  return format;
}

SourceFormat Compressed(SourceFormat format, Compression compression, std::string_view name) {
  format.name = Cat(name, format.name);
  format.encode = [compression, encode = format.encode](const Records& records, const InSet& place) {
    return Compress(compression, encode(records, place));
  };
  format.whole_files = true;
  // What follows the end of compressed bytes is damage of the file, not of a row.
  format.damage.clear();
  format.in_order = false;
  return format;
}

}  // namespace

std::vector<SourceFormat> SplitFormats() {
  // Registers the operator.
  const auto plugin = LoadPlugin("plugin/testing/reading_plugin.so");
  if (!plugin.ok()) ADD_FAILURE() << plugin.status();
  return {TextLines(),    JsonObjects(), CsvRows(),    LibSvmRows(),  RecordFiles(),
          ImageRecords(), TfExamples(),  TarSamples(), PluginFrames()};
}

std::vector<SourceFormat> NumberedFormats() {
  std::vector<SourceFormat> formats;
  for (SourceFormat lines : {TextLines(), JsonObjects(), CsvRows(), LibSvmRows()}) {
    formats.push_back(Numbered(std::move(lines), StringValue("build")));
  }
  for (SourceFormat records : {RecordFiles(), ImageRecords(), TfExamples(), TarSamples()}) {
    records.keeps_items = records.whole_files;
    formats.push_back(Numbered(std::move(records), StringsValue({"build"})));
  }
  formats.push_back(MindRows());
  return formats;
}

std::vector<SourceFormat> CompressedFormats() {
  std::vector<SourceFormat> formats;
  formats.push_back(Compressed(JsonObjects(), Compression::kGzip, "Gzip"));
  formats.push_back(Compressed(TextLines(), Compression::kZstd, "Zstd"));
  formats.push_back(Compressed(TfExamples(), Compression::kZlib, "Zlib"));
  formats.back().more.emplace_back("compression", StringValue("zlib"));
  formats.push_back(Compressed(TarSamples(), Compression::kXz, "Xz"));
  formats.push_back(Compressed(TarSamples(), Compression::kBzip2, "Bzip2"));
  return formats;
}

std::vector<SourceFormat> AllFormats() {
  std::vector<SourceFormat> formats = SplitFormats();
  for (SourceFormat& format : NumberedFormats()) formats.push_back(std::move(format));
  for (SourceFormat& format : CompressedFormats()) formats.push_back(std::move(format));
  return formats;
}

std::string NameOfFormat(const ::testing::TestParamInfo<SourceFormat>& format) { return format.param.name; }

void FormatTest::Write(const std::vector<int>& counts, size_t more_bytes) {
  rows_.clear();
  records_.clear();
  for (size_t file = 0; file < counts.size(); ++file) {
    Records records;
    for (int i = 0; i < counts[file]; ++i) {
      records.push_back(Cat(file, "-", i, std::string(static_cast<size_t>(i * i % 23) + more_bytes, 'x')));
      rows_.push_back(GetParam().row(records.back()));
    }
    folder_.Write(Cat("f", file), GetParam().encode(records, {file, counts.size()}));
    records_.push_back(std::move(records));
  }
}

GraphBuilder FormatTest::Source(GraphBuilder::Given attributes) const {
  return SourceIn(folder_.path(), std::move(attributes));
}

GraphBuilder FormatTest::SourceIn(std::string_view folder, GraphBuilder::Given attributes) const {
  if (GetParam().whole_files) {
    std::erase_if(attributes, [](const auto& each) { return each.first == "split_bytes"; });
    for (auto& [name, value] : attributes) {
      if (value.text() == "contiguous") value = StringValue("splits");
    }
  }
  // Not the indices beside them.
  std::vector<std::string> patterns = {JoinPath(folder, "f?")};
  if (records_.size() > 10) patterns.push_back(JoinPath(folder, "f??"));
  attributes.emplace_back(GetParam().paths, StringsValue(patterns));
  attributes.insert(attributes.end(), GetParam().more.begin(), GetParam().more.end());
  GraphBuilder builder;
  builder.Add(GetParam().op, {}, attributes);
  return builder;
}

std::vector<std::string> FormatTest::TextsOf(const GraphBuilder& builder, const ShardAssignment& shard,
                                             uint64_t epoch) {
  RunSpec spec;
  spec.shard = shard;
  const auto ran = RunOnce(*builder.Build(), OptionsOf(spec));
  if (!ran.ok() || !ran->error.ok()) {
    ADD_FAILURE() << DescribeError(ran.ok() ? ran->error : ran.status());
    return {};
  }
  return ran->Texts(epoch);
}

std::string FormatTest::PathOf(size_t file) const { return folder_ / Cat("f", file); }

}  // namespace headrace
