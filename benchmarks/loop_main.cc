// loop DIR [--threads N] [--images N | --seconds S] [--warm-up N] [--crop | --resize256-center224 | --validation]
// [--rounds N]
// Prints one line per round: images per second, and the work done.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "benchmarks/loop.h"
#include "core/error.h"

namespace {

constexpr const char* kUsage =
    "usage: loop DIR [--threads N] [--images N | --seconds S] [--warm-up N] "
    "[--crop | --resize256-center224 | --validation] [--rounds N]\n";

struct Arguments {
  headrace::LoopOptions loop;
  int rounds = 1;
};

bool TakeNumber(std::string_view option, double number, Arguments& arguments) {
  if (option == "--threads") {
    arguments.loop.threads = static_cast<int>(number);
  } else if (option == "--images") {
    arguments.loop.images = static_cast<int64_t>(number);
  } else if (option == "--seconds") {
    arguments.loop.seconds = number;
  } else if (option == "--warm-up") {
    arguments.loop.warm_up_images = static_cast<int64_t>(number);
  } else if (option == "--rounds") {
    arguments.rounds = static_cast<int>(number);
  } else {
    return false;
  }
  return true;
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--crop") {
      arguments.loop.work = headrace::LoopWork::kCropWhileDecoding;
    } else if (argument == "--resize256-center224") {
      arguments.loop.work = headrace::LoopWork::kResize256Center224;
    } else if (argument == "--validation") {
      arguments.loop.work = headrace::LoopWork::kValidation;
    } else if (argument.substr(0, 2) != "--" && arguments.loop.folder.empty()) {
      arguments.loop.folder = argument;
    } else if (i + 1 >= argc || !TakeNumber(argument, std::atof(argv[i + 1]), arguments)) {
      return false;
    } else {
      ++i;
    }
  }
  return !arguments.loop.folder.empty();
}

const char* WorkName(headrace::LoopWork work) {
  switch (work) {
    case headrace::LoopWork::kFullDecode:
      return "full decode, random-resized-crop";
    case headrace::LoopWork::kCropWhileDecoding:
      return "crop while decoding, random-resized-crop";
    case headrace::LoopWork::kResize256Center224:
      return "full decode, resize 256, centre 224";
    case headrace::LoopWork::kValidation:
      return "validation: decode of what is needed, antialiased resize 256, centre 224";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::cerr << kUsage;
    return 2;
  }
  for (int round = 0; round < arguments.rounds; ++round) {
    const auto result = headrace::RunLoop(arguments.loop);
    if (!result.ok()) {
      std::cerr << headrace::DescribeError(result.status()) << "\n";
      return 1;
    }
    std::cout << static_cast<double>(result->images) / result->seconds << " images/s (" << result->images
              << " images in " << result->seconds << " s, " << arguments.loop.threads << " threads, "
              << WorkName(arguments.loop.work) << ", " << result->unreadable << " unreadable)" << std::endl;
  }
}
