// `FarListings` remembers what far stores said of folders and files, so that each prefix is listed once for as long as
// it lives: a data set has one, which its iterations and counts share. Over its file system, stats of files in a listed
// folder cost no request, files are opened as they were listed, and what turns out to have changed is forgotten, so
// that the next iteration lists it again. The machine's own files it leaves alone. Threads: any thread. It outlives
// what reads through it; no lock is held during requests but by those for one listing.
#ifndef HEADRACE_IO_FILES_FAR_LISTINGS_H_
#define HEADRACE_IO_FILES_FAR_LISTINGS_H_

#include <map>
#include <memory>
#include <mutex>

#include "io/files/file_system.h"

namespace headrace {

class FarListings {
 public:
  FarListings();
  ~FarListings();
  FarListings(const FarListings&) = delete;

  // A file system like `files`, which is a registry or a store, with the listings of this object. The same for the same
  // `files`, and for itself; lives as long as this object.
  const FileSystem* Over(const FileSystem* files);

 private:
  class Router;

  std::mutex mutex_;
  std::map<const FileSystem*, std::unique_ptr<Router>> routers_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_LISTINGS_H_
