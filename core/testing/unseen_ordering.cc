// Tells ThreadSanitizer which races are none: Debian's libraries are compiled without it, so it does not see how their
// atomic operations order what threads do.

#ifdef __SANITIZE_THREAD__
// Status counts its references up in its header, and down in the library, which frees it. The stack that frees it
// begins in the destructor, which the header has.
extern "C" const char* __tsan_default_suppressions() { return "race:^absl::*::Status::Unref\n"; }
#endif
