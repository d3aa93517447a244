#include "kernels/row_kernel.hpp"

#include "kernels/row_x86.hpp"

namespace aqueduct::kernels {

#if defined(__x86_64__)

namespace {

// Measured on Zen 4, unless marked as chosen.
constexpr std::int64_t kWidestInWindows = 12;  // bytes of stride; from 16 on merge_row is as fast
constexpr std::uint64_t kFewestPacked = 32;    // elements; a window kernel takes 5 ns to set up
constexpr std::uint64_t kFewestUnpacked = 256;
constexpr std::uint64_t kFewestMerged = 32;        // bytes: one vector
constexpr std::uint64_t kLeastStreamedRow = 4096;  // bytes; chosen: the fence at its end then costs little
// Streaming is faster from 4 MiB on, but leaves the copy outside the cache. Chosen: more than half of a large cache.
constexpr std::uint64_t kLeastStreamed = std::uint64_t{16} << 20;

RowKernel streamed(std::uint64_t bytes) noexcept {
  switch (bytes) {
    case 8: return stream_row<8>;
    case 16: return stream_row<16>;
    case 32: return stream_row<32>;
    default: return nullptr;
  }
}

RowKernel in_windows(const RowShape& row) noexcept {
  const auto fits = [&](std::int64_t stride) {
    return stride > static_cast<std::int64_t>(row.bytes) && stride <= kWidestInWindows;
  };
  const bool packs = row.to == static_cast<std::int64_t>(row.bytes) && fits(row.from);
  const bool unpacks = row.from == static_cast<std::int64_t>(row.bytes) && fits(row.to);
  if ((!packs && !unpacks) || row.count < (packs ? kFewestPacked : kFewestUnpacked)) return nullptr;
  switch (row.bytes) {
    case 1: return packs ? pack_windows<1> : unpack_windows<1>;
    case 2: return packs ? pack_windows<2> : unpack_windows<2>;
    case 4: return packs ? pack_windows<4> : unpack_windows<4>;
    default: return nullptr;
  }
}

RowKernel merged(std::uint64_t bytes) noexcept {
  switch (bytes) {
    case 1: return merge_row<1>;
    case 2: return merge_row<2>;
    case 4: return merge_row<4>;
    case 8: return merge_row<8>;
    case 32: return merge_row<32>;
    default: return nullptr;
  }
}

// Measured on Sapphire Rapids, 64 KiB of pieces 3.3 pieces apart: 5.8 ns for 256 bytes and 10.8 for 512, against 7.2 and
// 11.3 by memcpy, and 5.9 and 12.7 by vectors of 16 bytes.
RowKernel wide(std::uint64_t bytes) noexcept {
  switch (bytes) {
    case 256: return wide_row<256>;
    case 512: return wide_row<512>;
    default: return nullptr;
  }
}

}  // namespace

RowKernel row_kernel(const RowShape& row, const Processor& has) noexcept {
  if (row.bytes > 32) return has.avx512_vbmi ? wide(row.bytes) : nullptr;
  const bool packs = row.to == static_cast<std::int64_t>(row.bytes);
  if (packs && has.avx2 && row.total >= kLeastStreamed && row.count * row.bytes >= kLeastStreamedRow) {
    if (const RowKernel kernel = streamed(row.bytes)) return kernel;
  }
  if (has.avx512_vbmi) {
    if (const RowKernel kernel = in_windows(row)) return kernel;
  }
  return packs && has.avx2 && row.count * row.bytes >= kFewestMerged ? merged(row.bytes) : nullptr;
}

#else

RowKernel row_kernel(const RowShape&, const Processor&) noexcept { return nullptr; }

#endif

}  // namespace aqueduct::kernels
