// What a callback gets of its row's notes, by the C interface and by the classes in C++ over it, and what is refused.
#include "kernels/plugin/plugin_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/row_notes.h"
#include "headrace_plugin.hpp"

namespace headrace {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// Keeps every note.
class NotesInMap : public NoteStore {
 public:
  bool Find(uint64_t key, std::string& bytes) override {
    const auto found = notes_.find(key);
    if (found != notes_.end()) bytes = found->second;
    return found != notes_.end();
  }
  void Leave(uint64_t key, std::string_view bytes, EarlierNote earlier) override {
    left_wrong_ += earlier == EarlierNote::kWrong ? 1 : 0;
    notes_[key] = std::string(bytes);
  }
  void CountUse() override { ++uses_; }

  size_t notes() const { return notes_.size(); }
  int left_wrong() const { return left_wrong_; }
  int uses() const { return uses_; }

 private:
  std::map<uint64_t, std::string> notes_;
  int left_wrong_ = 0;
  int uses_ = 0;
};

class PluginNotes : public ::testing::Test {
 protected:
  PluginNotes() { headrace_plugin_cc::host = &host_; }
  ~PluginNotes() override { headrace_plugin_cc::host = nullptr; }

  // The error of a callback, if it is one that has notes.
  absl::Status Apply(absl::FunctionRef<int32_t(headrace_call*)> callback) {
    OutputAllocator output;
    KernelContext context(RowRandom(7, 1), output, {}, &notes_);
    headrace_call::Row row;
    row.context = &context;
    headrace_call call("myops.Sum", "apply");
    call.Give(&row);
    return call.Run(callback);
  }
  // The same of the classes.
  absl::Status ApplyRow(absl::FunctionRef<void(headrace_plugin_cc::Row&)> callback) {
    return Apply([&](headrace_call* call) {
      return headrace_plugin_cc::Caught(call, [&] {
        headrace_plugin_cc::Row row(call, nullptr, 0);
        callback(row);
      });
    });
  }
  // How a call with this error breaks a rule; "" if it does not.
  static std::string Rule(const absl::Status& status) {
    const std::string text(status.message());
    EXPECT_THAT(text, StartsWith("apply() of myops.Sum "));
    EXPECT_THAT(text, EndsWith(" (a fault of the plugin myops, not of the pipeline)"));
    EXPECT_EQ(KindOf(status), ErrorKind::kFunction);
    const size_t begin = std::strlen("apply() of myops.Sum ");
    return text.substr(begin, text.rfind(" (") - begin);
  }

  headrace_host host_ = PluginHost();
  NotesInMap store_;
  RowNotes notes_{store_, 5};
};

TEST_F(PluginNotes, ComeBackToTheClasses) {
  EXPECT_TRUE(ApplyRow([](headrace_plugin_cc::Row& row) {
                EXPECT_EQ(row.FindNote("sum"), "");
                row.LeaveNote("sum", std::string("4\0"
                                                 "5",
                                                 3));
              }).ok());
  EXPECT_EQ(store_.left_wrong(), 0);
  EXPECT_TRUE(ApplyRow([](headrace_plugin_cc::Row& row) {
                EXPECT_EQ(row.FindNote("sum"), std::string("4\0"
                                                           "5",
                                                           3));
                EXPECT_EQ(row.FindNote("mean"), "");
                row.CountNote();
                row.LeaveNote("sum", "6", true);
              }).ok());
  EXPECT_EQ(store_.left_wrong(), 1);
  EXPECT_EQ(store_.uses(), 1);
  EXPECT_EQ(store_.notes(), 1u);
}

TEST_F(PluginNotes, OfNoBytesAreNotLeft) {
  EXPECT_TRUE(ApplyRow([](headrace_plugin_cc::Row& row) {
                row.LeaveNote("sum", "4");
                row.LeaveNote("sum", "");
                row.LeaveNote("sum", "", true);
                row.LeaveNote("mean", "");
                EXPECT_EQ(row.FindNote("sum"), "4");
              }).ok());
  EXPECT_EQ(store_.notes(), 1u);
  EXPECT_TRUE(Apply([&](headrace_call* call) { return host_.leave_note(call, "mean", nullptr, 0, 0); }).ok());
  EXPECT_EQ(store_.notes(), 1u);
}

// The memory behind the fields of such a host is not its own.
TEST_F(PluginNotes, AreNotAskedOfAHostOfVersion1Point0) {
  const size_t size = offsetof(headrace_host, add_column);
  const std::unique_ptr<char[]> first(new char[size]);
  host_.struct_size = static_cast<uint32_t>(size);
  std::memcpy(first.get(), &host_, size);
  headrace_plugin_cc::host = reinterpret_cast<const headrace_host*>(first.get());
  EXPECT_TRUE(ApplyRow([](headrace_plugin_cc::Row& row) {
                row.LeaveNote("sum", "4");
                row.CountNote();
                EXPECT_EQ(row.FindNote("sum"), "");
              }).ok());
  EXPECT_EQ(store_.notes(), 0u);
  EXPECT_EQ(store_.uses(), 0);
}

TEST_F(PluginNotes, AreForApplyAlone) {
  const auto outside = [](absl::FunctionRef<int32_t(headrace_call*)> callback) {
    return std::string(headrace_call("myops.Sum", "infer").Run(callback).message());
  };
  const std::string how = "(), which is for apply() alone (a fault of the plugin myops, not of the pipeline)";
  const void* data = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(outside([&](headrace_call* call) { return host_.find_note(call, "sum", &data, &bytes); }),
            "infer() of myops.Sum calls find_note" + how);
  EXPECT_EQ(outside([&](headrace_call* call) { return host_.leave_note(call, "sum", "4", 1, 0); }),
            "infer() of myops.Sum calls leave_note" + how);
  EXPECT_EQ(outside([&](headrace_call* call) { return host_.count_note(call); }),
            "infer() of myops.Sum calls count_note" + how);
}

TEST_F(PluginNotes, NeedAKeyPlacesAndBytes) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  const auto found = [&](const char* key, const void** place, uint64_t* size) {
    return Rule(Apply([&](headrace_call* call) { return host_.find_note(call, key, place, size); }));
  };
  EXPECT_EQ(found(nullptr, &data, &bytes), "gives find_note() no key");
  EXPECT_EQ(found("sum", nullptr, &bytes), "gives find_note() no place for the bytes or their number");
  EXPECT_EQ(found("sum", &data, nullptr), "gives find_note() no place for the bytes or their number");
  const auto left = [&](const char* key, const void* given, int32_t wrong) {
    return Rule(Apply([&](headrace_call* call) { return host_.leave_note(call, key, given, 2, wrong); }));
  };
  EXPECT_EQ(left(nullptr, "45", 0), "gives leave_note() no key");
  EXPECT_EQ(left("sum", nullptr, 0), "leaves a note of 2 bytes without them");
  EXPECT_EQ(left("sum", "45", 2), "leaves a note with wrong = 2, not 0 or 1");
  EXPECT_EQ(left("sum", "45", -1), "leaves a note with wrong = -1, not 0 or 1");
  EXPECT_EQ(store_.notes(), 0u);
}

}  // namespace
}  // namespace headrace
