#include "kernels/vision/mixing/mosaic_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

constexpr int kPartners = RowMosaic::kTiles - 1;

int64_t DrawCenter(Interval range, int64_t side, RowRandom& random) {
  const int64_t first = std::llround(range.low * static_cast<double>(side));
  const int64_t last = std::llround(range.high * static_cast<double>(side));
  return first + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last - first + 1)));
}

// Numbers among `count` rows. By Floyd's method where there are enough: each set of three is as likely.
std::array<int64_t, kPartners> DrawPartners(int64_t own, int64_t count, RowRandom& random) {
  std::array<int64_t, kPartners> partners;
  if (count < RowMosaic::kTiles) {
    for (int64_t& partner : partners) partner = static_cast<int64_t>(random.Below(static_cast<uint64_t>(count)));
    return partners;
  }
  // Of the others, which are numbered as if the own row were not there.
  const int64_t others = count - 1;
  for (int i = 0; i < kPartners; ++i) {
    const int64_t last = others - kPartners + i;
    const auto drawn = static_cast<int64_t>(random.Below(static_cast<uint64_t>(last + 1)));
    const auto end = partners.begin() + i;
    partners[static_cast<size_t>(i)] = std::find(partners.begin(), end, drawn) == end ? drawn : last;
  }
  for (int64_t& partner : partners) partner += partner >= own ? 1 : 0;
  return partners;
}

RowMosaic DrawMosaic(size_t own, const std::vector<int64_t>& rows, int64_t height, int64_t width,
                     const MosaicOptions& options, RowRandom& random) {
  RowMosaic mosaic;
  mosaic.joined = random.Uniform() < options.p;
  if (!mosaic.joined) return mosaic;
  mosaic.x = DrawCenter(options.centers, width, random);
  mosaic.y = DrawCenter(options.centers, height, random);
  mosaic.rows[0] = rows[own];
  const auto partners = DrawPartners(static_cast<int64_t>(own), static_cast<int64_t>(rows.size()), random);
  for (size_t i = 0; i < partners.size(); ++i) mosaic.rows[i + 1] = rows[static_cast<size_t>(partners[i])];
  for (size_t i = mosaic.rows.size() - 1; i > 0; --i) std::swap(mosaic.rows[i], mosaic.rows[random.Below(i + 1)]);
  return mosaic;
}

}  // namespace

Window RowMosaic::WindowOf(int tile, int64_t height, int64_t width) const {
  Window window;
  window.left = tile % 2 == 0 ? 0 : x;
  window.top = tile < 2 ? 0 : y;
  window.width = tile % 2 == 0 ? x : width - x;
  window.height = tile < 2 ? y : height - y;
  return window;
}

std::vector<RowMosaic> DrawMosaics(int64_t rows, int64_t height, int64_t width, const MosaicOptions& options,
                                   absl::Span<const bool> fillers, RowRandom& random) {
  std::vector<int64_t> joined;
  for (int64_t i = 0; i < rows; ++i) {
    if (fillers.empty() || !fillers[static_cast<size_t>(i)]) joined.push_back(i);
  }
  std::vector<RowMosaic> mosaics(static_cast<size_t>(rows));
  for (size_t i = 0; i < joined.size(); ++i) {
    mosaics[static_cast<size_t>(joined[i])] = DrawMosaic(i, joined, height, width, options, random);
  }
  return mosaics;
}

}  // namespace headrace
