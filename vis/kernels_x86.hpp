#pragma once

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

/// Row kernels (vis/row_kernel.hpp) that need more than every x86-64 processor has. None reads or writes a byte outside
/// the pieces' first to last, and none writes between them; addresses and strides are any, negative ones too, where
/// nothing else is said.
namespace aqueduct::vis {

/// To a contiguous target: elements are put together in a vector, which is one store. Of 1, 2, 4, 8 or 32 bytes.
/// Requires: AVX2; to_stride == kBytes.
template <std::size_t kBytes>
[[gnu::target("avx2")]] void merge_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                       std::int64_t from_stride, std::uint64_t count) noexcept;

/// The same past the caches, for what does not fit them. Of 8, 16 or 32 bytes. What is written can be announced by a
/// store after the call. Requires: AVX2; to_stride == kBytes.
template <std::size_t kBytes>
[[gnu::target("avx2")]] void stream_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                        std::int64_t from_stride, std::uint64_t count) noexcept;

/// To a contiguous target, from 128 bytes at a time, of which one instruction takes all elements. Of 1, 2 or 4 bytes.
/// Requires: AVX-512 BW and VBMI; to_stride == kBytes; kBytes < from_stride <= 128.
template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void pack_windows(std::byte* to, std::int64_t to_stride,
                                                         const std::byte* from, std::int64_t from_stride,
                                                         std::uint64_t count) noexcept;

/// From a contiguous source, to 64 bytes at a time, of which only the elements are written. Of 1, 2 or 4 bytes.
/// Requires: AVX-512 BW and VBMI; from_stride == kBytes; kBytes < to_stride <= 16.
template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void unpack_windows(std::byte* to, std::int64_t to_stride,
                                                           const std::byte* from, std::int64_t from_stride,
                                                           std::uint64_t count) noexcept;

}  // namespace aqueduct::vis

#endif
