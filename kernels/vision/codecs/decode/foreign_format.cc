#include "kernels/vision/codecs/decode/foreign_format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headrace {
namespace {

struct ForeignFormat {
  std::string_view begin;
  std::string_view name;
};

constexpr ForeignFormat kForeignFormats[] = {
    {{"\0\0\0\x0cJXL ", 8}, "JPEG XL"},
    {"\xff\x0a", "JPEG XL"},
    {{"\0\0\0\x0cjP  ", 8}, "JPEG 2000"},
    {"\xff\x4f\xff\x51", "JPEG 2000"},
    {"II\xbc", "JPEG XR"},
    {"8BPS", "Photoshop's PSD"},
    {"qoif", "QOI"},
    {"DDS ", "DDS"},
    {"\x76\x2f\x31\x01", "OpenEXR"},
    {"#?RADIANCE", "Radiance HDR"},
    {"\x8bJNG", "JNG"},
    {"\x8aMNG", "MNG"},
    {{"\0\0\1\0", 4}, "an icon (ICO)"},
    {{"\0\0\2\0", 4}, "a cursor (CUR)"},
    {"P7\n", "PAM"},
    {"Pf\n", "PFM"},
    {"PF\n", "PFM"},
    {"<svg", "SVG"},
    {"<?xml", "XML"},
    {"<!DOCTYPE", "HTML"},
    {"<!doctype", "HTML"},
    {"<html", "HTML"},
    {"%PDF", "PDF"},
    {"\x1f\x8b", "gzip"},
    {"PK\x03\x04", "ZIP"},
    {"\x28\xb5\x2f\xfd", "Zstandard"},
    {"\x93NUMPY", "a NumPy array"},
    {"\x89HDF", "HDF5"},
    {"version https://git-lfs", "a pointer of Git LFS, not the file it stands for"},
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

std::string_view NameOfForeign(std::string_view bytes) {
  const std::string_view boxes = NameOfBoxes(bytes);
  if (!boxes.empty()) return boxes;
  for (const ForeignFormat& format : kForeignFormats) {
    if (bytes.starts_with(format.begin)) return format.name;
  }
  return "";
}

}  // namespace headrace
