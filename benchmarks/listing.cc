// listing DIR [--save FILE]: measures ImageFolder's listing of DIR, and reading it back from FILE.
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

#include "core/error.h"
#include "io/listings/image_listing.h"

namespace {

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

absl::Status Measure(const std::string& folder, const std::string& saved) {
  const headrace::FileSystem& files = *headrace::LocalFileSystem();
  // In the second round the folders are in the page cache.
  for (int round = 0; round < 2; ++round) {
    const headrace::ImageListingOptions options;
    const auto begin = std::chrono::steady_clock::now();
    HEADRACE_ASSIGN_OR_RETURN(const headrace::ImageListing listing,
                              headrace::ImageListing::Make(files, folder, options));
    std::cout << SecondsSince(begin) << " s to list " << listing.size() << " images in " << listing.classes().size()
              << " classes, fingerprint " << std::hex << listing.fingerprint() << std::dec << std::endl;
    if (saved.empty()) continue;
    const auto save_begin = std::chrono::steady_clock::now();
    HEADRACE_RETURN_IF_ERROR(listing.Save(files, saved));
    const auto load_begin = std::chrono::steady_clock::now();
    HEADRACE_ASSIGN_OR_RETURN(const headrace::ImageListing loaded,
                              headrace::ImageListing::Load(files, saved, folder, options));
    std::cout << SecondsSince(save_begin) - SecondsSince(load_begin) << " s to save, " << SecondsSince(load_begin)
              << " s to load " << loaded.size() << " images" << std::endl;
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const bool save = argc == 4 && std::string_view(argv[2]) == "--save";
  if (argc != 2 && !save) {
    std::cerr << "usage: listing DIR [--save FILE]\n";
    return 2;
  }
  const absl::Status status = Measure(argv[1], save ? argv[3] : "");
  if (!status.ok()) std::cerr << headrace::DescribeError(status) << "\n";
  return status.ok() ? 0 : 1;
}
