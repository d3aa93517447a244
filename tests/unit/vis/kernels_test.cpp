// Every kernel compared with a naive loop: any length, any address, strides of both signs, and memory that ends with
// the last element.

#include "kernels/row_kernel.hpp"
#include "kernels/row_x86.hpp"
#include "vis/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::vis {
namespace {

/// Memory between two inaccessible pages (fences).
class Fenced {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 14;
  Fenced() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const all = mmap(nullptr, kRoom + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    begin_ = static_cast<std::byte*>(all) + page_;
    EXPECT_EQ(mprotect(begin_, kRoom, PROT_READ | PROT_WRITE), 0);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(begin_ - page_, kRoom + 2 * page_); }

  /// The address of the first piece, such that the last byte of the row (`at_end`) or its first byte touches a fence.
  std::byte* place(std::uint64_t bytes, std::int64_t stride, std::uint64_t count, bool at_end) noexcept {
    const std::int64_t reach = stride * static_cast<std::int64_t>(count - 1);
    const std::int64_t lowest = std::min<std::int64_t>(reach, 0);
    const std::int64_t highest = std::max<std::int64_t>(reach, 0) + static_cast<std::int64_t>(bytes);
    return at_end ? begin_ + static_cast<std::int64_t>(kRoom) - highest : begin_ - lowest;
  }
  std::vector<std::byte> all() const { return {begin_, begin_ + kRoom}; }
  std::byte* begin() noexcept { return begin_; }
  /// The number of pieces, at most `count`, for which there is room, with a few bytes to spare.
  static std::uint64_t at_most(std::uint64_t count, std::int64_t stride) noexcept {
    return std::min<std::uint64_t>(count, (kRoom - 128) / static_cast<std::uint64_t>(std::abs(stride)));
  }

 private:
  std::size_t page_;
  std::byte* begin_ = nullptr;
};

struct Kernel {
  std::string name;
  kernels::RowKernel run;
  std::uint64_t bytes;
  bool packs;               ///< false: unpacks
  std::int64_t widest = 0;  ///< the largest stride, which is positive; 0: any stride
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
#if defined(__x86_64__)
  const Processor has = Processor::here();
  if (has.avx2) {
    all.insert(all.end(), {{"merge1", kernels::merge_row<1>, 1, true},
                           {"merge2", kernels::merge_row<2>, 2, true},
                           {"merge4", kernels::merge_row<4>, 4, true},
                           {"merge8", kernels::merge_row<8>, 8, true},
                           {"merge32", kernels::merge_row<32>, 32, true},
                           {"stream8", kernels::stream_row<8>, 8, true},
                           {"stream16", kernels::stream_row<16>, 16, true},
                           {"stream32", kernels::stream_row<32>, 32, true}});
  }
  if (has.avx512_vbmi) {
    all.insert(all.end(), {{"pack_windows1", kernels::pack_windows<1>, 1, true, 128},
                           {"pack_windows2", kernels::pack_windows<2>, 2, true, 128},
                           {"pack_windows4", kernels::pack_windows<4>, 4, true, 128},
                           {"unpack_windows1", kernels::unpack_windows<1>, 1, false, 16},
                           {"unpack_windows2", kernels::unpack_windows<2>, 2, false, 16},
                           {"unpack_windows4", kernels::unpack_windows<4>, 4, false, 16},
                           {"wide256", kernels::wide_row<256>, 256, true},
                           {"wide256", kernels::wide_row<256>, 256, false},
                           {"wide512", kernels::wide_row<512>, 512, true},
                           {"wide512", kernels::wide_row<512>, 512, false}});
  }
#endif
  return all;
}

/// A description of the first difference.
std::string difference(const std::vector<std::byte>& found, const std::vector<std::byte>& wanted) {
  const auto [a, b] = std::ranges::mismatch(found, wanted);
  return a == found.end() ? "" : "byte " + std::to_string(a - found.begin()) + " differs";
}

class Ground {
 public:
  explicit Ground(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < Fenced::kRoom; ++i) source_.begin()[i] = static_cast<std::byte>(random_());
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  /// Runs a copy of a row and the naive loop, between places that touch the fences or are a few bytes away.
  template <class Copy>
  std::string compare(std::uint64_t bytes, std::int64_t to_stride, std::int64_t from_stride,
                      std::uint64_t count, Copy&& copy) {
    const bool at_end = below(2) == 0;
    const std::int64_t to_off = off(at_end);
    const std::int64_t from_off = off(at_end);
    std::byte* const to = target_.place(bytes, to_stride, count, at_end) + to_off;
    const std::byte* const from = source_.place(bytes, from_stride, count, at_end) + from_off;
    std::memset(target_.begin(), 0xee, Fenced::kRoom);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto n = static_cast<std::int64_t>(i);
      std::memcpy(to + n * to_stride, from + n * from_stride, bytes);
    }
    const auto wanted = target_.all();
    std::memset(target_.begin(), 0xee, Fenced::kRoom);
    copy(to, from);
    return difference(target_.all(), wanted);
  }

 private:
  std::int64_t off(bool at_end) {
    const auto bytes = below(2) == 0 ? 0 : static_cast<std::int64_t>(below(70));
    return at_end ? -bytes : bytes;
  }
  std::mt19937_64 random_;
  Fenced source_;
  Fenced target_;
};

TEST(VisRowKernels, DoWhatTheNaiveLoopDoesAndTouchNothingElse) {
  if (kernels().empty()) GTEST_SKIP() << "none for this processor";
  for (const Kernel& kernel : kernels()) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Ground ground(seed);
      const auto size = static_cast<std::int64_t>(kernel.bytes);
      const auto reach = static_cast<std::uint64_t>(
          kernel.widest != 0 ? kernel.widest - size : std::max<std::int64_t>(200 - size, size));
      std::int64_t stride = size + 1 + static_cast<std::int64_t>(ground.below(reach));
      if (kernel.widest == 0 && ground.below(2) == 0) stride = -stride;
      const std::uint64_t count = Fenced::at_most(1 + ground.below(ground.below(2) == 0 ? 40 : 300), stride);
      const std::int64_t to = kernel.packs ? size : stride;
      const std::int64_t from = kernel.packs ? stride : size;
      ASSERT_EQ(
          ground.compare(kernel.bytes, to, from, count,
                         [&](std::byte* out, const std::byte* in) { kernel.run(out, to, in, from, count); }),
          "")
          << kernel.name << ": " << count << " pieces " << stride << " apart, seed " << seed;
    }
  }
}

TEST(VisRowKernels, AreTakenOnlyWhereTheProcessorHasWhatTheyNeed) {
  constexpr std::uint64_t kMany = std::uint64_t{64} << 20;
  for (const std::int64_t size : {1, 2, 4, 8, 16, 32, 64, 3}) {
    for (const std::int64_t stride : {size + 1, 2 * size, 12l, 100l, -2 * size}) {
      for (const std::uint64_t count : {1ul, 8ul, 10'000ul}) {
        const auto bytes = static_cast<std::uint64_t>(size);
        EXPECT_EQ(kernels::row_kernel({bytes, size, stride, count, kMany}, Processor{}), nullptr);
        EXPECT_EQ(kernels::row_kernel({bytes, stride, size, count, kMany}, Processor{}), nullptr);
      }
    }
  }
#if defined(__x86_64__)
  const kernels::RowShape doubles{8, 8, 16, 100, 800};
  const kernels::RowShape bytes{1, 1, 2, 100, 100};
  EXPECT_EQ(kernels::row_kernel(doubles, {.avx2 = true}), &kernels::merge_row<8>);
  EXPECT_EQ(kernels::row_kernel(bytes, {.avx2 = true}), &kernels::merge_row<1>);
  EXPECT_EQ(kernels::row_kernel(bytes, {.avx2 = true, .avx512_vbmi = true}), &kernels::pack_windows<1>);
  EXPECT_EQ(kernels::row_kernel({8, 8, 16, 10'000, std::uint64_t{1} << 30}, {.avx2 = true}),
            &kernels::stream_row<8>);
  EXPECT_EQ(kernels::row_kernel({256, 848, 256, 256, 65'536}, {.avx2 = true, .avx512_vbmi = true}),
            &kernels::wide_row<256>);
#endif
}

TEST(VisRowKernels, AreWhatRowsAndNestsRunOnAnyProcessor) {
  const Processor here = Processor::here();
  const Processor kinds[] = {{}, {.avx2 = here.avx2}, here};
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Ground ground(seed);
    const std::uint64_t bytes =
        ground.below(4) == 0 ? 1 + ground.below(40) : std::uint64_t{1} << ground.below(6);
    const auto size = static_cast<std::int64_t>(bytes);
    const auto stride = [&] {
      const std::int64_t wide =
          size + 1 + static_cast<std::int64_t>(ground.below(ground.below(2) == 0 ? 8 : 90));
      return ground.below(3) == 0 ? size : ground.below(4) == 0 ? -wide : wide;
    };
    const std::int64_t to = stride();
    const std::int64_t from = stride();
    const std::uint64_t count = Fenced::at_most(1 + ground.below(ground.below(2) == 0 ? 60 : 600),
                                                std::max(std::abs(to), std::abs(from)));
    for (const Processor& has : kinds) {
      const std::string what = std::to_string(count) + " pieces of " + std::to_string(bytes) + ", " +
                               std::to_string(from) + " apart to " + std::to_string(to) + ", seed " +
                               std::to_string(seed);
      ASSERT_EQ(ground.compare(bytes, to, from, count,
                               [&](std::byte* out, const std::byte* in) {
                                 const auto at = [](const std::byte* p) {
                                   return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p));
                                 };
                                 copy_rows({at(out), bytes, to, count, nullptr},
                                           {at(in), bytes, from, count, nullptr}, count, has);
                               }),
                "")
          << what;
      Nest nest;
      nest.bytes = bytes;
      nest.depth = 1;
      nest.loops[0] = {count, to, from};
      ASSERT_EQ(ground.compare(bytes, to, from, count,
                               [&](std::byte* out, const std::byte* in) { run_nest(nest, out, in, has); }),
                "")
          << what;
    }
  }
}

}  // namespace
}  // namespace aqueduct::vis
