"""The engine beside libraries that show their own protobuf to all others, as TensorFlow does."""

import subprocess

import pytest
from conftest import run_python

# What the engine calls while it is loaded, under the names of C++; each ends the process.
PROTOBUF = """
#include <stdlib.h>
void _ZN6google8protobuf11MessageLite14ParseFromArrayEPKvi(void) { abort(); }
void _ZN6google8protobuf16RepeatedPtrFieldINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE3AddEv(void) { abort(); }
void _ZN6google8protobuf8internal15ThreadSafeArena26AllocateAlignedWithCleanupEmPKSt9type_info(void) { abort(); }
"""

# libc's, with 16 bytes or more in front of what it gives, in which it says where these begin.
ALLOCATOR = """
#include <errno.h>
#include <stddef.h>
#include <string.h>
void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
struct before { size_t bytes; void* begin; };
static void* noted(void* begin, size_t front, size_t bytes) {
  if (begin == NULL) return NULL;
  struct before* before = (struct before*)((char*)begin + front) - 1;
  before->bytes = bytes;
  before->begin = begin;
  return before + 1;
}
void* malloc(size_t bytes) { return noted(__libc_malloc(bytes + 16), 16, bytes); }
void free(void* given) {
  if (given != NULL) __libc_free(((struct before*)given - 1)->begin);
}
void* calloc(size_t many, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(many, bytes, &all)) return NULL;
  void* made = malloc(all);
  return made == NULL ? NULL : memset(made, 0, all);
}
void* realloc(void* given, size_t bytes) {
  void* made = malloc(bytes);
  if (made == NULL || given == NULL) return made;
  size_t had = ((struct before*)given - 1)->bytes;
  memcpy(made, given, had < bytes ? had : bytes);
  free(given);
  return made;
}
void* reallocarray(void* given, size_t many, size_t bytes) {
  size_t all;
  return __builtin_mul_overflow(many, bytes, &all) ? NULL : realloc(given, all);
}
void* memalign(size_t of, size_t bytes) {
  if (of < 16) of = 16;
  return noted(__libc_memalign(of, bytes + of), of, bytes);
}
void* aligned_alloc(size_t of, size_t bytes) { return memalign(of, bytes); }
int posix_memalign(void** made, size_t of, size_t bytes) {
  *made = memalign(of, bytes);
  return *made == NULL ? ENOMEM : 0;
}
size_t malloc_usable_size(void* given) { return given == NULL ? 0 : ((struct before*)given - 1)->bytes; }
"""

# By which a protobuf is seen; nothing here calls it.
SEEN = "void _ZN6google8protobuf11MessageLite14ParseFromArrayEPKvi(void) { __builtin_trap(); }"

IMPORT = """
import ctypes, sys
ctypes.CDLL({library!r}, mode=ctypes.RTLD_GLOBAL)
flags = sys.getdlopenflags()
import headrace as hr
assert sys.getdlopenflags() == flags
print(len(list(hr.Range(8).batch(2))), hr.Range(8).to_json()[:1])
"""


def library(folder, name, text):
    source, made = folder / f"{name}.c", folder / f"lib{name}.so"
    source.write_text(text)
    # What gcc knows of malloc would make calloc call itself.
    subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin-malloc", source, "-o", made], check=True, timeout=60)
    return str(made)


def test_the_engine_uses_its_own_protobuf(tmp_path):
    done = run_python(IMPORT.format(library=library(tmp_path, "protobuf_of_others", PROTOBUF)), timeout=60)
    assert (done.returncode, done.stdout) == (0, "4 {\n"), done.stderr


def test_what_a_preloaded_allocator_gave_is_freed_by_it(tmp_path, monkeypatch):
    protobuf, allocator = library(tmp_path, "protobuf_of_others", SEEN), library(tmp_path, "allocator", ALLOCATOR)
    monkeypatch.setenv("LD_PRELOAD", allocator)
    done = run_python(IMPORT.format(library=protobuf), timeout=60)
    assert (done.returncode, done.stdout) == (0, "4 {\n"), done.stderr


def test_tensorflow_may_be_imported_first():
    pytest.importorskip("tensorflow")
    done = run_python("import tensorflow, headrace; print(len(list(headrace.Range(3))))", timeout=120)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
