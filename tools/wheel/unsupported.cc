// Stands in for libjbig in the wheel: the functions that libtiff calls, which decode and encode nothing. libjbig is
// under the GPL, which a wheel under the Apache License cannot carry, and Debian's libtiff cannot be loaded without it.
// `V.Decode` refuses JBIG before libtiff is asked; libtiff reports the code of jbg_dec_in as an error of the file.

#include <cstddef>

namespace {

// JBG_EIMPL: a part of the standard that is not implemented.
constexpr int kNotImplemented = 7 << 4;

}  // namespace

extern "C" {

int jbg_dec_in(void*, unsigned char*, size_t, size_t*) { return kNotImplemented; }
int jbg_newlen(unsigned char*, size_t) { return kNotImplemented; }
const char* jbg_strerror(int) { return "JBIG is not supported"; }

void jbg_dec_init(void*) {}
unsigned char* jbg_dec_getimage(const void*, int) { return nullptr; }
unsigned long jbg_dec_getsize(const void*) { return 0; }
void jbg_dec_free(void*) {}

using Output = void (*)(unsigned char*, size_t, void*);
void jbg_enc_init(void*, unsigned long, unsigned long, int, unsigned char**, Output, void*) {}
void jbg_enc_out(void*) {}
void jbg_enc_free(void*) {}

}  // extern "C"
