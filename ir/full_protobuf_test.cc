// Compares text, JSON and bytes of graphs with those of protobuf's full library, which reads and writes them by the
// same file's descriptors.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/testing/rounds.h"
#include "core/text.h"
#include "ir/full_graph.pb.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/graph_json.h"
#include "ir/graph_schema.h"
#include "ir/graph_text.h"
#include "ir/testing/fake_ops.h"

namespace headrace::ir {
namespace {

namespace pb = google::protobuf;

full::Graph FullOf(const proto::Graph& graph) {
  full::Graph whole;
  EXPECT_TRUE(whole.ParseFromString(SerializeGraph(graph)));
  return whole;
}

// Where and what protobuf finds wrong first.
class FullError : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (place_.empty()) place_ = Cat("line ", line + 1, ", column ", column + 1, ": ");
    if (message_.empty()) message_ = message;
  }
  const std::string& place() const { return place_; }
  const std::string& message() const { return message_; }

 private:
  std::string place_;
  std::string message_;
};

std::string FullText(const full::Graph& graph) {
  pb::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  EXPECT_TRUE(printer.PrintToString(graph, &text));
  return text;
}

// Both read a text, or refuse it at the same place.
void ExpectReadAlike(const std::string& text) {
  const pb::LogSilencer silence;
  FullError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kDeepestMessage);
  full::Graph whole;
  const bool taken = parser.ParseFromString(text, &whole);
  const absl::StatusOr<std::string> bytes = ReadText(text);
  const std::string refusal(bytes.status().message());
  // Refused at once: the full library reads extensions to their end, and makes half a pair a string that is not UTF-8.
  const bool at_once = refusal.find("half of a surrogate pair") != std::string::npos ||
                       refusal.find("has no brackets") != std::string::npos;
  if (!taken) {
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_TRUE(at_once || refusal.find(error.place()) != std::string::npos)
        << refusal << " where protobuf has " << error.place() << error.message() << " in " << text;
    return;
  }
  full::Graph read;
  // Strings that are not UTF-8 are refused here.
  const bool kept = read.ParseFromString(whole.SerializeAsString());
  EXPECT_EQ(bytes.ok() && read.ParseFromString(*bytes), kept) << text << bytes.status();
  if (kept && bytes.ok()) {
    EXPECT_EQ(read.SerializeAsString(), whole.SerializeAsString()) << text;
  }
}

class DamagedText {
 public:
  std::string Of(std::string text) {
    static constexpr std::string_view kTokens[] = {"{",          "}",           "<",
                                                   ">",          "[",           "]",
                                                   ",",          ";",           ":",
                                                   "-",          ".",           "'",
                                                   "\"",         "\\",          "#",
                                                   "\n",         "\t",          " ",
                                                   "0",          "0x",          "1e",
                                                   "f",          "inf",         "nan",
                                                   "true",       "seed: 0 ",    "seed: 07 ",
                                                   "producer: ", "format: 0 ",  "nodes ",
                                                   "\\x4",       "\\777",       "\\ud83d",
                                                   "\\ude00",    "\\U0010ffff", "\\U00110000",
                                                   "a.5",        "1.5f",        "18446744073709551616",
                                                   "\xc3",       "\x01"};
    const uint64_t changes = 1 + random_() % 3;
    for (uint64_t i = 0; i < changes && !text.empty(); ++i) {
      const size_t at = random_() % text.size();
      if (random_() % 3 == 0) {
        text.erase(at, 1 + random_() % 12);
      } else {
        text.insert(at, kTokens[random_() % std::size(kTokens)]);
      }
    }
    return text;
  }

 private:
  std::mt19937_64 random_{20261129};
};

TEST(FullProtobuf, WritesAndReadsTheSameTextOfRandomGraphs) {
  const int graphs = Rounds(300, {.quick = 60, .sanitized = 60});
  DamagedText damaged;
  for (int seed = 0; seed < graphs; ++seed) {
    const proto::Graph graph = RandomGraph(seed);
    const std::string text = WriteText(graph);
    ASSERT_EQ(text, FullText(FullOf(graph)));
    ExpectReadAlike(text);
    for (int i = 0; i < 50; ++i) ExpectReadAlike(damaged.Of(text));
  }
  std::printf("HEADRACE-COUNT fuzz=%d\n", 50 * graphs);
}

TEST(FullProtobuf, ReadsTheSameOfTheCorpus) {
  int files = 0;
  DamagedText damaged;
  for (const auto& entry : std::filesystem::directory_iterator("ir/corpus/graph_text_fuzz")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ExpectReadAlike(text);
    for (int i = 0; i < 50; ++i) ExpectReadAlike(damaged.Of(text));
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST(FullProtobuf, WritesTheSameReals) {
  std::mt19937_64 random(7);
  proto::Graph graph;
  proto::Reals& reals = *graph.add_nodes()->add_attributes()->mutable_value()->mutable_reals();
  const int rounds = Rounds(20'000, {.quick = 5'000, .sanitized = 5'000});
  for (int i = 0; i < rounds; ++i) {
    reals.add_values(std::bit_cast<double>(random()));
    reals.add_values(static_cast<double>(random() % 100'000) / 1000);
  }
  const std::string text = WriteText(graph);
  ASSERT_EQ(text, FullText(FullOf(graph)));
  ExpectReadAlike(text);
}

TEST(FullProtobuf, WritesTheSameStrings) {
  proto::Graph graph;
  for (int byte = 0; byte < 256; ++byte) {
    std::string text(1, static_cast<char>(byte));
    if (byte >= 0x80) text = "\xc3\xbc\xe2\x80\xa8";
    graph.add_nodes()->set_op(text + "7a" + text + text);
  }
  ASSERT_EQ(WriteText(graph), FullText(FullOf(graph)));
  ExpectReadAlike(WriteText(graph));
}

TEST(FullProtobuf, ReadsTheJson) {
  for (int seed = 0; seed < 100; ++seed) {
    const proto::Graph graph = RandomGraph(seed);
    full::Graph read;
    const auto status = pb::util::JsonStringToMessage(WriteJson(graph), &read);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(read.SerializeAsString(), SerializeGraph(graph));
    std::string json;
    ASSERT_TRUE(pb::util::MessageToJsonString(read, &json).ok());
    const absl::StatusOr<proto::Graph> back = ParseGraphJson(json);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(SerializeGraph(*back), SerializeGraph(graph));
  }
}

void ExpectSameSchema(const MessageSchema& schema, const pb::Descriptor& message) {
  EXPECT_EQ(schema.name, message.name());
  ASSERT_EQ(static_cast<int>(schema.fields.size()), message.field_count());
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldSchema& field = schema.fields[i];
    const pb::FieldDescriptor& described = *message.field(i);
    EXPECT_EQ(field.name, described.name());
    EXPECT_EQ(field.camel_name, described.camelcase_name());
    EXPECT_EQ(static_cast<int>(field.number), described.number());
    EXPECT_EQ(static_cast<int>(field.type), described.type());
    EXPECT_EQ(field.repeated, described.is_repeated());
    EXPECT_EQ(field.explicit_presence, described.is_repeated() || described.has_presence());
    const pb::OneofDescriptor* const choice = described.real_containing_oneof();
    EXPECT_EQ(field.choice, choice == nullptr ? "" : choice->name());
    const pb::Descriptor* const within = described.message_type();
    ASSERT_EQ(field.message == nullptr, within == nullptr);
    if (within != nullptr) {
      EXPECT_EQ(field.message->name, within->name());
    }
  }
}

TEST(FullProtobuf, HasTheSchemaThatTheGraphHas) {
  std::vector<const MessageSchema*> schemas = {&GraphSchema()};
  for (size_t i = 0; i < schemas.size(); ++i) {
    const pb::Descriptor* const message = full::Graph::descriptor()->file()->FindMessageTypeByName(schemas[i]->name);
    ASSERT_NE(message, nullptr) << schemas[i]->name;
    ExpectSameSchema(*schemas[i], *message);
    for (const FieldSchema& field : schemas[i]->fields) {
      if (field.message == nullptr) continue;
      if (std::find(schemas.begin(), schemas.end(), field.message) == schemas.end()) schemas.push_back(field.message);
    }
  }
  // All but those that no graph holds.
  EXPECT_EQ(static_cast<int>(schemas.size()), full::Graph::descriptor()->file()->message_type_count());
}

}  // namespace
}  // namespace headrace::ir
