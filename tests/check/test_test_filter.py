"""tools/check/test_filter.py: the tests of one file among those of a program."""

from tools.check.test_filter import filter_of, patterns_in

SOURCE = """
namespace headrace {
TEST(Resize, Halves) {}
TEST_F(ResizeTest,
       KeepsEdges) {}
TEST_P(Sizes, AreThose) {}
TYPED_TEST(Numbers, Add) {}
INSTANTIATE_TEST_SUITE_P(All, Battery, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(, Plain, testing::Values(1));
INSTANTIATE_TYPED_TEST_SUITE_P(Formats, Typed, Types);
// TEST(Not, Defined)
}
"""


def test_each_macro_has_its_pattern():
    assert patterns_in(SOURCE) == [
        "Resize.Halves",
        "ResizeTest.KeepsEdges",
        "*Sizes.AreThose/*",
        "*Numbers/*.Add",
        "All/Battery.*",
        "Plain.*",
        "Formats/Typed/*",
    ]


def test_a_filter_has_the_tests_of_all_files_once():
    assert filter_of(["TEST(B, C) {}", "TEST(A, B) {}\nTEST(B, C) {}"]) == "A.B:B.C"
    assert filter_of(["int main() {}"]) == ""
