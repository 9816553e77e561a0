#include "io/formats/coco/coco_reader.h"

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/outline_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/json/testing/text_bytes.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kImages =
    R"("images": [{"id": 7, "file_name": "b.jpg", "height": 4, "width": 6, "license": {"id": [1]}},
                  {"file_name": "a.jpg", "width": 5, "height": 3, "id": 2},
                  {"id": 9, "file_name": "c.jpg", "height": 2, "width": 2}])";
constexpr std::string_view kCategories =
    R"("categories": [{"id": 90, "name": "zebra"}, {"id": 3, "name": "car", "supercategory": "vehicle"}])";

std::string FileOf(std::string_view annotations, std::string_view categories = kCategories,
                   std::string_view images = kImages) {
  return Cat("{\"info\": {}, ", images, ", \"annotations\": [", annotations, "], ", categories, "}");
}

absl::StatusOr<CocoTable> Read(std::string text, CocoTask task = CocoTask::kDetection, size_t most = 1 << 20) {
  return ReadCocoStream(std::make_unique<fixture::TextBytes>(std::move(text), most), task, 4096);
}

std::string MessageOf(std::string text, CocoTask task = CocoTask::kDetection) {
  const absl::StatusOr<CocoTable> table = Read(std::move(text), task);
  EXPECT_EQ(KindOf(table.status()), ErrorKind::kData);
  return std::string(table.status().message());
}

std::vector<Outline> OutlinesOf(const CocoTable& table, size_t image) {
  const auto begin = static_cast<size_t>(table.outline_splits[image]);
  const auto end = static_cast<size_t>(table.outline_splits[image + 1]);
  OutlineReader reader({reinterpret_cast<const char*>(table.outlines.data()) + begin, end - begin});
  EXPECT_TRUE(reader.ReadHead().ok());
  EXPECT_EQ(reader.height(), table.height[image]);
  EXPECT_EQ(reader.width(), table.width[image]);
  std::vector<Outline> outlines(static_cast<size_t>(reader.objects()));
  for (Outline& outline : outlines) EXPECT_TRUE(reader.ReadOutline(outline).ok());
  EXPECT_TRUE(reader.CheckEnd().ok());
  return outlines;
}

constexpr std::string_view kObjects =
    R"({"id": 11, "image_id": 2, "category_id": 90, "bbox": [1, 1, 2.5, 1], "area": 2.5, "iscrowd": 0,
        "segmentation": [[1, 1, 3.5, 1, 3.5, 2], [0, 0, 1, 0, 1, 1]]},
       {"segmentation": {"counts": [2, 3, 19], "size": [4, 6]}, "id": 5, "image_id": 7, "category_id": 3,
        "bbox": [0, 0, 1, 3], "area": 3, "iscrowd": 1},
       {"id": 12, "image_id": 2, "category_id": 3, "bbox": [0.5, 0, 2, 2], "area": 4, "iscrowd": 0,
        "segmentation": {"size": [3, 5], "counts": "62"}})";

TEST(CocoReader, GivesObjectsByImageAndInTheOrderOfTheFile) {
  for (const size_t most : {1, 7, 1 << 20}) {
    const CocoTable table = *Read(FileOf(kObjects), CocoTask::kDetection, most);
    EXPECT_THAT(table.image_id, ElementsAre(7, 2, 9));
    EXPECT_THAT(table.file_name, ElementsAre("b.jpg", "a.jpg", "c.jpg"));
    EXPECT_THAT(table.height, ElementsAre(4, 3, 2));
    EXPECT_THAT(table.width, ElementsAre(6, 5, 2));
    ASSERT_EQ(table.categories.size(), 2U);
    EXPECT_EQ(table.categories[0].id, 3);
    EXPECT_EQ(table.categories[0].supercategory, "vehicle");
    EXPECT_EQ(table.categories[1].name, "zebra");
    EXPECT_THAT(table.object_splits, ElementsAre(0, 1, 3, 3));
    EXPECT_THAT(table.object_id, ElementsAre(5, 11, 12));
    EXPECT_THAT(table.category, ElementsAre(0, 1, 0));
    EXPECT_THAT(table.is_crowd, ElementsAre(1, 0, 0));
    EXPECT_THAT(table.area, ElementsAre(3, 2.5, 4));
    EXPECT_THAT(table.boxes, ElementsAre(0, 0, 1, 3, 1, 1, 2.5, 1, 0.5, 0, 2, 2));
    EXPECT_EQ(table.doubts.images_without, 1);
    EXPECT_EQ(table.doubts.boxes_outside, 0);
  }
}

TEST(CocoReader, KeepsOutlines) {
  const CocoTable table = *Read(FileOf(kObjects));
  const std::vector<Outline> first = OutlinesOf(table, 0);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_THAT(first[0].runs, ElementsAre(2, 3, 19));
  const std::vector<Outline> second = OutlinesOf(table, 1);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_THAT(second[0].part_ends, ElementsAre(3, 6));
  EXPECT_EQ(second[0].points[1], (GridPoint{18, 5}));
  EXPECT_THAT(second[1].runs, ElementsAre(6, 2));
  EXPECT_THAT(OutlinesOf(table, 2), IsEmpty());
}

TEST(CocoReader, TakesSectionsInAnyOrderAndFilesWithoutAnnotations) {
  const std::string text = Cat("{", kCategories, ", \"annotations\": [", kObjects, "], ", kImages, "}");
  EXPECT_THAT(Read(text)->object_id, ElementsAre(5, 11, 12));
  const CocoTable table = *Read(Cat("{", kImages, ", ", kCategories, "}"));
  EXPECT_THAT(table.object_splits, ElementsAre(0, 0, 0, 0));
}

std::string Object(std::string_view members) {
  return Cat(R"({"id": 1, "image_id": 7, "category_id": 3, )", members, "}");
}

TEST(CocoReader, CountsWhatMayNotBeMeant) {
  const std::string objects =
      Cat(Object(R"("bbox": [-1, 0, 2, 2], "segmentation": [])"), ", ",
          R"({"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 0, 2], "area": 0, "segmentation": [[1, 1]]}, )",
          R"({"id": 3, "image_id": 7, "category_id": 3, "bbox": [5, 3, 2, 2], "area": 4, "segmentation": null})");
  const CocoTable table = *Read(FileOf(objects));
  EXPECT_EQ(table.doubts.boxes_outside, 2);
  EXPECT_EQ(table.doubts.first_outside, "annotation 1 of image 7");
  EXPECT_EQ(table.doubts.boxes_empty, 1);
  EXPECT_EQ(table.doubts.first_empty, "annotation 2 of image 7");
  EXPECT_EQ(table.doubts.outlines_empty, 3);
  EXPECT_EQ(table.doubts.areas_missing, 1);
  EXPECT_THAT(table.area, ElementsAre(4, 0, 4));
  // They are given as they are.
  EXPECT_EQ(table.boxes[0], -1);
}

TEST(CocoReader, TakesAnOutlineOfFourNumbersForABox) {
  const CocoTable table = *Read(FileOf(Object(R"("bbox": [1, 1, 2, 2], "segmentation": [[1, 1, 2, 2]])")));
  EXPECT_THAT(OutlinesOf(table, 0)[0].points,
              ElementsAre(GridPoint{5, 5}, GridPoint{5, 15}, GridPoint{15, 15}, GridPoint{15, 5}));
  EXPECT_THAT(MessageOf(FileOf(Object(R"("bbox": [1, 1, 2, 2], "segmentation": [[1, 1, 2, 2], [1, 1, 2, 2, 3, 3]])"))),
              HasSubstr("write the box as a polygon"));
}

TEST(CocoReader, RefusesIdsThatOccurTwiceOrReferToNothing) {
  const std::string box = R"("bbox": [0, 0, 1, 1])";
  EXPECT_THAT(MessageOf(FileOf(Cat(Object(box), ",", Object(box)))), HasSubstr("two annotations have the id 1"));
  EXPECT_THAT(MessageOf(FileOf(R"({"id": 4, "image_id": 8, "category_id": 3, "bbox": [0, 0, 1, 1]})")),
              HasSubstr("annotation 4 is of image 8, which the file does not list"));
  EXPECT_THAT(MessageOf(FileOf(R"({"id": 4, "image_id": 7, "category_id": 4, "bbox": [0, 0, 1, 1]})")),
              HasSubstr("annotation 4 is of category 4, which the file does not list"));
  EXPECT_THAT(MessageOf(FileOf("", R"("categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}])")),
              HasSubstr("two categories have the id 1: a and b"));
  EXPECT_THAT(MessageOf(FileOf("", kCategories,
                               R"("images": [{"id": 1, "file_name": "a.jpg", "height": 1, "width": 1},
                                             {"id": 1, "file_name": "b.jpg", "height": 1, "width": 1}])")),
              HasSubstr("two images have the id 1: a.jpg and b.jpg"));
}

TEST(CocoReader, ShortensTextsOfTheFileInMessages) {
  const std::string name(100, 'x');
  const std::string shown = Cat(std::string(60, 'x'), "…");
  const std::string image = Cat("{\"id\": 1, \"file_name\": \"", name, "\", \"height\": 1, \"width\": 1}");
  const std::string category = Cat("{\"id\": 1, \"name\": \"", name, "\"}");
  EXPECT_THAT(MessageOf(FileOf("", kCategories, Cat("\"images\": [", image, ", ", image, "]"))),
              HasSubstr(Cat(": ", shown, " and ", shown)));
  EXPECT_THAT(MessageOf(FileOf("", Cat("\"categories\": [", category, ", ", category, "]"))),
              HasSubstr(Cat(": ", shown, " and ", shown)));
  EXPECT_THAT(MessageOf(FileOf("", kCategories, Cat("\"images\": [{\"id\": 1, \"file_name\": \"", name, "\"}]"))),
              HasSubstr(Cat("it has no \"height\" (its id is 1, its file ", shown, "), at byte")));
  const auto of_image = [&](int id) {
    return Cat("{\"image_id\": ", id, ", \"file_name\": \"", name, "\", \"segments_info\": []}");
  };
  EXPECT_THAT(MessageOf(FileOf(of_image(8)), CocoTask::kPanoptic), HasSubstr(Cat("annotation of ", shown, " is of")));
  EXPECT_THAT(MessageOf(FileOf(Cat(of_image(7), ", ", of_image(7))), CocoTask::kPanoptic),
              HasSubstr(Cat(": ", shown, " and ", shown)));
}

TEST(CocoReader, RefusesEntriesThatLackWhatIsNeeded) {
  EXPECT_THAT(MessageOf(FileOf(R"({"id": 4, "image_id": 7, "category_id": 3})")), HasSubstr("has no \"bbox\""));
  EXPECT_THAT(MessageOf(FileOf(R"({"id": 4, "category_id": 3, "bbox": [0, 0, 1, 1]})")), HasSubstr("no \"image_id\""));
  EXPECT_THAT(MessageOf(FileOf("", kCategories, R"("images": [{"id": 1, "height": 1, "width": 1}])")),
              StartsWith("image 0 of the list: it has no \"file_name\", at byte"));
  EXPECT_EQ(MessageOf(FileOf("", kCategories, R"("images": [{"id": 1, "file_name": "a.jpg", "width": 1}])")),
            "image 0 of the list: it has no \"height\" (its id is 1, its file a.jpg), at byte 67");
  EXPECT_THAT(MessageOf(FileOf(Cat(Object(R"("bbox": [0, 0, 1, 1])"), ", {}"))),
              StartsWith("annotation 1 of the list: it has no \"image_id\", at byte"));
  EXPECT_THAT(MessageOf(FileOf("", R"("categories": [{"id": 1}])")),
              StartsWith("category 0 of the list: it has no \"name\""));
  EXPECT_THAT(MessageOf("{}"), HasSubstr("no \"images\""));
  EXPECT_THAT(MessageOf("[]"), HasSubstr("results of a model"));
  EXPECT_THAT(MessageOf(Cat("{", kImages, ",", kImages, "}")), HasSubstr("\"images\" twice"));
}

TEST(CocoReader, RefusesDamagedObjects) {
  const auto message = [](std::string_view members) {
    return MessageOf(FileOf(Object(Cat(R"("bbox": [0, 0, 1, 1], )", members))));
  };
  EXPECT_THAT(message(R"("bbox": [0, 0, 1])"), StartsWith("annotation 0 of the list: a box has four numbers"));
  EXPECT_THAT(message(R"("bbox": [0, 0, 1, 1e300])"), HasSubstr("beyond float32"));
  EXPECT_THAT(message(R"("bbox": [0, 0, 1e20, 1e20])"),
              HasSubstr("annotation 1 has no \"area\", and that of its box is beyond float32"));
  EXPECT_THAT(message(R"("iscrowd": 2)"), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(message(R"("id": "4")"), HasSubstr("\"id\" must be a whole number"));
  EXPECT_THAT(message(R"("id": 1.5)"), HasSubstr("\"id\" must be a whole number"));
  EXPECT_THAT(message(R"("segmentation": [1, 2, 3, 4, 5, 6])"), HasSubstr("list of polygons"));
  EXPECT_THAT(message(R"("segmentation": [[1, 2, 3, 4, 5]])"), HasSubstr("odd number"));
  EXPECT_THAT(message(R"("segmentation": [[1, 2, 3, 4, 5, 1e9]])"), HasSubstr("3,000,000 pixels"));
  EXPECT_THAT(message(R"("segmentation": 7)"), HasSubstr("neither polygons nor run lengths"));
  EXPECT_THAT(message(R"("segmentation": {"size": [4, 6]})"), HasSubstr("need \"size\" and \"counts\""));
  EXPECT_THAT(message(R"("segmentation": {"size": [4], "counts": []})"), HasSubstr("list of height and width"));
  EXPECT_THAT(message(R"("segmentation": {"size": [4, 6], "counts": [25]})"), HasSubstr("beyond their \"size\""));
  EXPECT_THAT(message(R"("segmentation": {"size": [4, 6], "counts": [-1]})"), HasSubstr("at least 0"));
  EXPECT_THAT(message(R"("segmentation": {"size": [4, 6], "counts": "P"})"), HasSubstr("damaged"));
  EXPECT_THAT(message(R"("segmentation": {"size": [6, 4], "counts": [24]})"),
              HasSubstr("are of height 6 and width 4; its image 7 has height 4 and width 6"));
  EXPECT_THAT(message("\"name\": \"\xff\""), HasSubstr("not UTF-8"));
}

TEST(CocoReader, GivesKeypoints) {
  const std::string person = R"("categories": [{"id": 1, "name": "person", "keypoints": ["nose", "tail"],
                                                "skeleton": [[1, 2]]}])";
  const auto object = [](std::string_view keypoints) {
    return Cat(R"({"id": 4, "image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1], "keypoints": [)", keypoints, "]}");
  };
  const CocoTable table = *Read(FileOf(object("1, 2.5, 2, 0, 0, 0"), person), CocoTask::kKeypoints);
  EXPECT_EQ(table.keypoint_count, 2);
  EXPECT_THAT(table.keypoints, ElementsAre(1, 2.5, 0, 0));
  EXPECT_THAT(table.visibility, ElementsAre(2, 0));
  EXPECT_THAT(table.categories[0].keypoints, ElementsAre("nose", "tail"));
  EXPECT_THAT(table.categories[0].skeleton, ElementsAre(std::pair(1, 2)));
  EXPECT_THAT(MessageOf(FileOf(object("1, 2, 2"), person), CocoTask::kKeypoints),
              HasSubstr("annotation 4 has 3 numbers of keypoints; 2 keypoints"));
  EXPECT_THAT(MessageOf(FileOf(object("1, 2, 2, 0, 0, 3"), person), CocoTask::kKeypoints),
              HasSubstr("annotation 4 has a keypoint that is marked neither 0, 1 nor 2"));
  // The last of two lists counts.
  const std::string twice = R"(0], "keypoints": [1, 2, 2, 0, 0, )";
  EXPECT_THAT(Read(FileOf(object(twice + "1"), person), CocoTask::kKeypoints)->visibility, ElementsAre(2, 1));
  EXPECT_THAT(MessageOf(FileOf(object(twice + "1e30"), person), CocoTask::kKeypoints), HasSubstr("neither 0, 1 nor 2"));
}

TEST(CocoReader, GivesCaptions) {
  const CocoTable table = *Read(FileOf(R"({"id": 1, "image_id": 2, "caption": "a cat\n"},
                                          {"id": 2, "image_id": 7, "caption": "ein Käfer"},
                                          {"id": 3, "image_id": 2, "caption": ""})",
                                       "\"licenses\": []"),
                                CocoTask::kCaptions);
  EXPECT_THAT(table.object_splits, ElementsAre(0, 1, 3, 3));
  EXPECT_THAT(table.captions, ElementsAre("ein Käfer", "a cat\n", ""));
}

TEST(CocoReader, GivesSegmentsOfPanopticImages) {
  const std::string annotation = R"({"image_id": 2, "file_name": "a.png", "segments_info": [
      {"id": 3226956, "category_id": 90, "bbox": [0, 0, 2, 2], "area": 3, "iscrowd": 0},
      {"id": 1, "category_id": 3, "bbox": [0, 0, 2, 2], "area": 3, "iscrowd": 1}]})";
  const CocoTable table = *Read(FileOf(annotation), CocoTask::kPanoptic);
  EXPECT_THAT(table.segments_file, ElementsAre("", "a.png", ""));
  EXPECT_THAT(table.object_splits, ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(table.object_id, ElementsAre(3226956, 1));
  EXPECT_THAT(table.category, ElementsAre(1, 0));
  EXPECT_THAT(MessageOf(FileOf(Cat(annotation, ",", annotation)), CocoTask::kPanoptic),
              HasSubstr("image 2 has two annotations"));
  EXPECT_THAT(MessageOf(FileOf(R"({"image_id": 2, "segments_info": []})"), CocoTask::kPanoptic),
              HasSubstr("no \"file_name\""));
}

TEST(CocoReader, ReadsFilesAlsoCompressed) {
  const TemporaryFolder folder;
  const std::string text = FileOf(kObjects);
  const FileSystem& files = *LocalFileSystem();
  for (const std::string& path :
       {folder.Write("a.json", text), folder.Write("a.json.gz", Compress(Compression::kGzip, text))}) {
    const CocoTable table = *ReadCoco(files, path, CocoTask::kDetection);
    EXPECT_THAT(table.object_id, ElementsAre(5, 11, 12));
    EXPECT_EQ(table.bytes, static_cast<int64_t>(text.size()));
    EXPECT_EQ(table.checksum, Crc32c(text.data(), text.size()));
  }
  const std::string cut = folder.Write("b.json", text.substr(0, 500));
  const absl::Status status = ReadCoco(files, cut, CocoTask::kDetection).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(status, ErrorField::kFile), cut);
  EXPECT_EQ(KindOf(ReadCoco(files, folder / "none.json", CocoTask::kDetection).status()), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace headrace
