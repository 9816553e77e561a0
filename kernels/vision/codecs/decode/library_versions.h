// `LibraryVersions` names the libraries of others, and the decoder of JPEGs of our own, that decide what pixels become,
// with the versions that are used here.
// Threads: a pure function.
#ifndef HEADRACE_KERNELS_VISION_CODECS_DECODE_LIBRARY_VERSIONS_H_
#define HEADRACE_KERNELS_VISION_CODECS_DECODE_LIBRARY_VERSIONS_H_

#include <string>
#include <utility>
#include <vector>

namespace headrace {

// By name. Decoders without loss are left out: their versions change no pixel.
std::vector<std::pair<std::string, std::string>> LibraryVersions();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_DECODE_LIBRARY_VERSIONS_H_
