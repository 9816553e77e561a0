#include "kernels/vision/codecs/decode/foreign_format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headrace {
namespace {

struct ForeignStart {
  std::string_view begin;
  ForeignFormat format;
};

constexpr std::string_view kConvert = "convert it to one of these formats";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kPage = "it may be the page of an error, saved in place of a download";
constexpr std::string_view kFetch = "fetch the file that it stands for: git lfs pull";

constexpr ForeignStart kForeignStarts[] = {
    {{"\0\0\0\x0cJXL ", 8}, {"JPEG XL", kConvert}},
    {"\xff\x0a", {"JPEG XL", kConvert}},
    {{"\0\0\0\x0cjP  ", 8}, {"JPEG 2000", kConvert}},
    {"\xff\x4f\xff\x51", {"JPEG 2000", kConvert}},
    {"II\xbc", {"JPEG XR", kConvert}},
    {"8BPS", {"Photoshop's PSD", kConvert}},
    {"qoif", {"QOI", kConvert}},
    {"DDS ", {"DDS", kConvert}},
    {"\x76\x2f\x31\x01", {"OpenEXR", kConvert}},
    {"#?RADIANCE", {"Radiance HDR", kConvert}},
    {"\x8bJNG", {"JNG", kConvert}},
    {"\x8aMNG", {"MNG", kConvert}},
    {{"\0\0\1\0", 4}, {"an icon (ICO)", kConvert}},
    {{"\0\0\2\0", 4}, {"a cursor (CUR)", kConvert}},
    {"P7\n", {"PAM", kConvert}},
    {"Pf\n", {"PFM", kConvert}},
    {"PF\n", {"PFM", kConvert}},
    {"<svg", {"SVG", kConvert}},
    {"%PDF", {"PDF", kConvert}},
    {"<?xml", {"XML", kPage}},
    {"<!DOCTYPE", {"HTML", kPage}},
    {"<!doctype", {"HTML", kPage}},
    {"<html", {"HTML", kPage}},
    {"<HTML", {"HTML", kPage}},
    {"\x1f\x8b", {"gzip", kUnpack}},
    {"BZh", {"bzip2", kUnpack}},
    {"\xfd\x37zXZ", {"xz", kUnpack}},
    {"PK\x03\x04", {"ZIP", kUnpack}},
    {"\x28\xb5\x2f\xfd", {"Zstandard", kUnpack}},
    {"\x93NUMPY", {"a NumPy array", "read it with numpy.load"}},
    {"\x89HDF", {"HDF5", "read it with h5py"}},
    {"version https://git-lfs", {"a Git LFS pointer", kFetch}},
};

// Of a file of ISO base media boxes, which begins with a list of what it may be read as.
std::string_view NameOfBoxes(std::string_view bytes) {
  constexpr size_t kBrand = 4;
  if (bytes.size() < 12 || bytes.substr(4, 4) != "ftyp") return "";
  size_t end = 0;
  for (const char byte : bytes.substr(0, 4)) end = end << 8 | static_cast<uint8_t>(byte);
  end = std::min({end, bytes.size(), size_t{256}});
  bool image = false;
  for (size_t at = 8; at + kBrand <= end; at += kBrand) {
    const std::string_view brand = bytes.substr(at, kBrand);
    if (brand == "avif" || brand == "avis") return "AVIF";
    image |= brand == "heic" || brand == "heix" || brand == "hevc" || brand == "mif1" || brand == "msf1";
  }
  return image ? "HEIC" : "a video or other file of MP4's kind";
}

}  // namespace

std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes) {
  const std::string_view boxes = NameOfBoxes(bytes);
  if (!boxes.empty()) return ForeignFormat{boxes, kConvert};
  for (const ForeignStart& start : kForeignStarts) {
    if (bytes.starts_with(start.begin)) return start.format;
  }
  return std::nullopt;
}

}  // namespace headrace
