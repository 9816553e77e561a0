"""Notes that kernels of plugins leave of rows come back to them in later epochs and runs."""

import re

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main
from headrace.errors import FunctionError
from tests.compiled_plugins import library_of

# The sum of an image's bytes, which it notes with a checksum of them: "right", or "trusting" without.
SOURCE = r"""
#include <cstdint>
#include <cstring>
#include <string>
#include "headrace_plugin.h"

extern "C" {
static const headrace_host* host;

static int32_t Infer(headrace_call*, const headrace_value* const*, const headrace_type* const* inputs, uint32_t,
                     headrace_type* const* outputs) {
  (void)inputs;
  outputs[0]->dtype = HEADRACE_INT64;
  outputs[0]->axes = 0;
  return HEADRACE_OK;
}

static int32_t Apply(headrace_call* call, const headrace_tensor* const* inputs, bool checks) {
  const auto* bytes = static_cast<const uint8_t*>(inputs[0]->data);
  uint64_t checksum = 14695981039346656037u;
  for (uint64_t i = 0; i < inputs[0]->bytes; ++i) checksum = (checksum ^ bytes[i]) * 1099511628211u;
  const void* data = nullptr;
  uint64_t size = 0;
  int32_t failed = host->find_note(call, "sum", &data, &size);
  if (failed != HEADRACE_OK) return failed;
  void* output = nullptr;
  failed = host->allocate(call, 0, HEADRACE_INT64, 0, nullptr, &output);
  if (failed != HEADRACE_OK) return failed;
  int64_t note[3] = {};
  if (size == sizeof(note)) std::memcpy(note, data, sizeof(note));
  const bool right = !checks || (note[1] == int64_t(checksum) && note[2] == (note[0] ^ note[1] ^ 7));
  if (size == sizeof(note) && right) {
    std::memcpy(output, note, sizeof(int64_t));
    return host->count_note(call);
  }
  int64_t sum = 0;
  for (uint64_t i = 0; i < inputs[0]->bytes; ++i) sum += bytes[i];
  std::memcpy(output, &sum, sizeof(sum));
  const int64_t left[3] = {sum, int64_t(checksum), sum ^ int64_t(checksum) ^ 7};
  return host->leave_note(call, "sum", left, sizeof(left), size > 0);
}
static int32_t ApplyChecked(headrace_call* call, const void*, const headrace_tensor* const* inputs, uint32_t) {
  return Apply(call, inputs, true);
}
static int32_t ApplyTrusting(headrace_call* call, const void*, const headrace_tensor* const* inputs, uint32_t) {
  return Apply(call, inputs, false);
}
static int32_t ApplyWithoutBytes(headrace_call* call, const void*, const headrace_tensor* const*, uint32_t) {
  return host->leave_note(call, "sum", nullptr, 3, 0);
}

#define KERNEL(name, apply) \
  static const headrace_kernel name = {sizeof(headrace_kernel), 1, #name, "Sums bytes.", NULL, NULL, 1, 1, 1, 0, 0, \
                                       NULL, Infer, NULL, NULL, apply}
KERNEL(Sum, ApplyChecked);
KERNEL(TrustingSum, ApplyTrusting);
KERNEL(NoBytes, ApplyWithoutBytes);
static const headrace_kernel* const kernels[] = {&Sum, &TrustingSum, &NoBytes, NULL};

HEADRACE_PLUGIN_EXPORT extern const uint32_t headrace_plugin_abi;
const uint32_t headrace_plugin_abi = HEADRACE_PLUGIN_ABI;
HEADRACE_PLUGIN_EXPORT int32_t headrace_plugin_query(uint32_t, const headrace_host* given, headrace_call*,
                                                     const headrace_plugin** plugin) {
  static headrace_plugin declared;
  host = given;
  declared.struct_size = sizeof(declared);
  declared.name = "noteops";
  declared.version = "1";
  declared.kernels = kernels;
  *plugin = &declared;
  return HEADRACE_OK;
}
}
"""

# The same by the classes in C++, in a plugin that needs version 1.0 of the interface.
CLASSES = r"""
#include <cstring>
#include "headrace_plugin.hpp"

using namespace headrace_plugin_cc;

namespace {
class Sum {
 public:
  static Declaration Declared() { return Declaration("Sum", 1, "Sums bytes."); }
  static std::vector<Type> Infer(const Attributes&, const std::vector<Type>&) { return {{HEADRACE_INT64, Shape{}}}; }
  explicit Sum(const Attributes&) {}
  void Apply(Row& row) const {
    const uint8_t* const bytes = row.data<uint8_t>(0);
    uint64_t checksum = 14695981039346656037u;
    for (uint64_t i = 0; i < row.input(0).bytes; ++i) checksum = (checksum ^ bytes[i]) * 1099511628211u;
    const std::string found = row.FindNote("sum");
    int64_t note[3] = {};
    if (found.size() == sizeof(note)) std::memcpy(note, found.data(), sizeof(note));
    int64_t* const sum = row.Allocate<int64_t>(0, {});
    *sum = note[0];
    if (found.size() == sizeof(note) && note[1] == int64_t(checksum) && note[2] == (note[0] ^ note[1] ^ 7)) {
      return row.CountNote();
    }
    *sum = 0;
    for (uint64_t i = 0; i < row.input(0).bytes; ++i) *sum += bytes[i];
    const int64_t left[3] = {*sum, int64_t(checksum), *sum ^ int64_t(checksum) ^ 7};
    row.LeaveNote("sum", {reinterpret_cast<const char*>(left), sizeof(left)}, !found.empty());
    row.LeaveNote("nothing", "");
  }
};
}  // namespace

HEADRACE_PLUGIN("classnotes", "1", "Sums bytes.", Sum)
"""


@pytest.fixture(scope="session")
def library():
    return library_of("noteops", SOURCE)


@pytest.fixture(scope="session")
def noteops(library):
    return hr.load_plugin(library)


def uses(text: str) -> int:
    found = re.search(r"(\d+) rows were made faster", text)
    return int(found[1]) if found else 0


def sums(noteops, kept) -> hr.Dataset:
    return hr.ImageFolder(hr.sample_photos()).cache(directory=kept).map(noteops.Sum(), "image").batch(4)


def test_a_plugins_notes_come_back(noteops, tmp_path):
    dataset = sums(noteops, tmp_path)
    with dataset.repeat(3).iterate(window=1) as run:
        given = [batch["image"] for batch in run]
        assert uses(run.explain()) == 2 * 12
    plain = [batch["image"] for batch in dataset.repeat(3).iterate(optimize=False)]
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))
    with dataset.iterate() as run:
        list(run)
        assert uses(run.explain()) == 12


def test_notes_of_the_classes_come_back(tmp_path, capfd):
    library = library_of("classnotes", CLASSES)
    dataset = sums(hr.load_plugin(library), tmp_path)
    with dataset.repeat(3).iterate(window=1) as run:
        assert sum(len(batch["image"]) for batch in run) == 3 * 12
        assert uses(run.explain()) == 2 * 12
    assert main(["check-plugin", str(library), "--check", "inference", "--check", "notes"]) == 0
    assert "notes" in capfd.readouterr().out


def test_without_a_place_for_them_there_are_none(noteops):
    bytes_of = np.arange(10, dtype=np.uint8)
    assert [int(noteops.Sum()(bytes_of)) for _ in range(2)] == [45, 45]


def test_a_note_without_its_bytes_is_a_fault_of_the_plugin(noteops):
    with pytest.raises(FunctionError, match="leaves a note of 3 bytes without them"):
        noteops.NoBytes()(np.zeros(3, np.uint8))


def test_check_plugin_finds_kernels_that_trust_notes(library, capfd):
    only = ["--check", "inference", "--check", "notes"]
    assert main(["check-plugin", str(library), "--operator", "Sum", *only]) == 0
    capfd.readouterr()
    assert main(["check-plugin", str(library), "--operator", "TrustingSum", *only]) != 0
    assert "with a note of other bytes or a damaged one, the same row differs" in capfd.readouterr().out


def test_images_are_still_images(noteops):
    """The kernel takes any bytes: those of decoded images, too."""
    image = V.Decode()(next(iter(hr.ImageFolder(hr.sample_photos())))["image"])
    assert int(noteops.Sum()(image)) == int(image.sum())
