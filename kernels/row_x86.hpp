#pragma once

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

/// Row kernels (kernels/row_kernel.hpp) for instructions that not every x86-64 processor has. A kernel accesses no byte
/// before the first piece or after the last, and writes none between pieces. Addresses are arbitrary; strides too,
/// unless `Requires` says otherwise: they may be negative.
namespace aqueduct::kernels {

/// To a contiguous target: collects elements in a vector and stores the vector. Elements of 1, 2, 4, 8 or 32 bytes.
/// Requires: AVX2; to_stride == kBytes.
template <std::size_t kBytes>
[[gnu::target("avx2")]] void merge_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                       std::int64_t from_stride, std::uint64_t count) noexcept;

/// As merge_row, but the stores bypass the caches: for copies that do not fit them. Elements of 8, 16 or 32 bytes. Ends
/// with a fence, so an ordinary store after the call can announce the data. Requires: AVX2; to_stride == kBytes.
template <std::size_t kBytes>
[[gnu::target("avx2")]] void stream_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                        std::int64_t from_stride, std::uint64_t count) noexcept;

/// To a contiguous target: loads a window of 128 bytes and extracts its elements with one instruction. Elements of 1,
/// 2 or 4 bytes. Requires: AVX-512 BW and VBMI; to_stride == kBytes; kBytes < from_stride <= 128.
template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void pack_windows(std::byte* to, std::int64_t to_stride,
                                                         const std::byte* from, std::int64_t from_stride,
                                                         std::uint64_t count) noexcept;

/// From a contiguous source: spreads elements over a window of 64 bytes and writes them with one masked store.
/// Elements of 1, 2 or 4 bytes. Requires: AVX-512 BW and VBMI; from_stride == kBytes; kBytes < to_stride <= 16.
template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void unpack_windows(std::byte* to, std::int64_t to_stride,
                                                           const std::byte* from, std::int64_t from_stride,
                                                           std::uint64_t count) noexcept;

/// Pieces of 256 or 512 bytes, by vectors of 64 bytes. Requires: AVX-512 F.
template <std::size_t kBytes>
[[gnu::target("avx512f")]] void wide_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                         std::int64_t from_stride, std::uint64_t count) noexcept;

}  // namespace aqueduct::kernels

#endif
