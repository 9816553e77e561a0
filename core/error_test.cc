#include "core/error.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"

namespace headrace {
namespace {

TEST(Error, KeepsItsKind) {
  for (const ErrorKind kind :
       {ErrorKind::kGraph, ErrorKind::kData, ErrorKind::kNotFound, ErrorKind::kFunction, ErrorKind::kState,
        ErrorKind::kResource, ErrorKind::kUnsupported, ErrorKind::kClosed, ErrorKind::kInternal}) {
    const absl::Status error = MakeError(kind, "no");
    EXPECT_FALSE(error.ok());
    EXPECT_EQ(KindOf(error), kind) << ErrorKindName(kind);
  }
  EXPECT_EQ(ErrorKindName(ErrorKind::kNotFound), "NotFoundError");
  EXPECT_EQ(KindOf(DataError("row ", 3, " is ", std::string_view("bad"))), ErrorKind::kData);
  EXPECT_EQ(DataError("row ", 3, " is ", std::string_view("bad")).message(), "row 3 is bad");
}

// A name in a message may be any bytes, and must not look like a line of the message.
TEST(Error, SaysWhateverBytesInOneLineOfText) {
  const std::string name = "a\xFF\x1B[31m\n  file: b\r\u202E";
  const std::string shown = "a\\xff\\x1b[31m\\n  file: b\\r\\u202e";
  absl::Status error = NotFoundError(name, ": not found");
  EXPECT_EQ(error.message(), shown + ": not found");
  EXPECT_EQ(Reworded(error, Cat("in ", name, ": ", error.message())).message(),
            "in " + shown + ": " + shown + ": not found");
  AddErrorField(error, ErrorField::kFile, name);
  EXPECT_EQ(DescribeError(error), shown + ": not found\n  file: " + shown);
  // Whoever opens the file needs its name.
  EXPECT_EQ(GetErrorField(error, ErrorField::kFile), name);
  const absl::Status listed = MakeErrorOfLines(ErrorKind::kGraph, {"2 mistakes:", name, "c"});
  EXPECT_EQ(listed.message(), "2 mistakes:\n" + shown + "\nc");
  EXPECT_EQ(ErrorLines(listed).size(), 3u);
}

TEST(Error, KeepsItsFieldsInOtherWords) {
  absl::Status error = DataError("cut off");
  AddErrorField(error, ErrorField::kRow, "epoch 0, key 3");
  const absl::Status reworded = Reworded(error, "the image is cut off");
  EXPECT_EQ(KindOf(reworded), ErrorKind::kData);
  EXPECT_EQ(DescribeError(reworded), "the image is cut off\n  row: epoch 0, key 3");
}

TEST(Error, MapsWhatWasNotMadeHere) {
  EXPECT_EQ(KindOf(absl::OutOfRangeError("")), ErrorKind::kGraph);
  EXPECT_EQ(KindOf(absl::PermissionDeniedError("")), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(absl::UnknownError("")), ErrorKind::kInternal);
  EXPECT_EQ(KindOf(absl::UnavailableError("")), ErrorKind::kInternal);
}

TEST(Error, TheInnermostPlaceStays) {
  absl::Status error = DataError("the file is cut off");
  AddErrorField(error, ErrorField::kFile, "");
  EXPECT_EQ(GetErrorField(error, ErrorField::kFile), "");
  AddErrorField(error, ErrorField::kFile, "a.jpg");
  AddErrorField(error, ErrorField::kFile, "b.jpg");
  AddErrorField(error, ErrorField::kOperator, "map[1]");
  AddErrorField(error, ErrorField::kLocation, "train.py:3");
  AddErrorField(error, ErrorField::kRow, "epoch 0, key 3");
  AddErrorField(error, ErrorField::kFunction, "17");
  EXPECT_EQ(GetErrorField(error, ErrorField::kFile), "a.jpg");
  EXPECT_EQ(DescribeError(error),
            "the file is cut off\n  in: map[1]\n  written at: train.py:3\n  row: epoch 0, key 3\n  file: a.jpg");
  const absl::Status copy = error;
  AddErrorField(error, ErrorField::kRow, "other");
  EXPECT_EQ(copy, error);
  absl::Status fine;
  AddErrorField(fine, ErrorField::kFile, "a.jpg");
  EXPECT_TRUE(fine.ok());
}

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return GraphError(value, " is odd");
  return value / 2;
}
absl::Status Quarter(int value, int& quarter) {
  HEADRACE_ASSIGN_OR_RETURN(const int half, Half(value));
  HEADRACE_ASSIGN_OR_RETURN(quarter, Half(half));
  HEADRACE_RETURN_IF_ERROR(Half(quarter * 2).status());
  return absl::OkStatus();
}

TEST(Error, MacrosPassErrorsOn) {
  int quarter = 0;
  EXPECT_TRUE(Quarter(12, quarter).ok());
  EXPECT_EQ(quarter, 3);
  EXPECT_EQ(Quarter(6, quarter).message(), "3 is odd");
}

}  // namespace
}  // namespace headrace
