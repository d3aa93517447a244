#include "kernels/copy_piece.hpp"
#include "kernels/row_kernel.hpp"
#include "kernels/row_x86.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/vis_ground.hpp"
#include "vis/kernels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <random>
#include <set>

namespace aqueduct::perf {

namespace {

using Clock = std::chrono::steady_clock;
using kernels::RowKernel;

/// A row to copy; the extent of its wider side is about `total`.
struct Extent {
  const char* what;
  std::size_t element;
  std::int64_t to;
  std::int64_t from;
  std::size_t total;
  std::uint64_t count() const { return total / static_cast<std::uint64_t>(std::max(to, from)); }
};

struct Kernel {
  const char* name;
  RowKernel run;
};

/// The kernels that can copy such a row, with their names.
std::vector<Kernel> kernels_for(const Extent& row) {
  std::vector<Kernel> all;
#if defined(__x86_64__)
  const kernels::Processor has = kernels::Processor::here();
  const auto size = static_cast<std::int64_t>(row.element);
  const auto add = [&](bool can, const char* name, std::array<RowKernel, 6> by_size) {
    const auto kernel = by_size[static_cast<std::size_t>(std::countr_zero(row.element))];
    if (can && kernel != nullptr) all.push_back({name, kernel});
  };
  using namespace vis;
  add(has.avx2 && row.to == size, "merge",
      {kernels::merge_row<1>, kernels::merge_row<2>, kernels::merge_row<4>, kernels::merge_row<8>, nullptr,
       kernels::merge_row<32>});
  add(has.avx2 && row.to == size, "stream",
      {nullptr, nullptr, nullptr, kernels::stream_row<8>, kernels::stream_row<16>, kernels::stream_row<32>});
  add(has.avx512_vbmi && row.to == size && row.from <= 64, "window",
      {kernels::pack_windows<1>, kernels::pack_windows<2>, kernels::pack_windows<4>, nullptr, nullptr,
       nullptr});
  add(has.avx512_vbmi && row.from == size && row.to <= 16, "window",
      {kernels::unpack_windows<1>, kernels::unpack_windows<2>, kernels::unpack_windows<4>, nullptr, nullptr,
       nullptr});
#else
  static_cast<void>(row);
#endif
  return all;
}

/// Times several ways to do the same, in turns, so that a disturbance affects all of them.
class Turns {
 public:
  explicit Turns(std::uint64_t count) : count_(count), batch_(std::max<std::uint64_t>(1, 30'000 / count)) {}

  template <class F>
  void time(std::size_t way, F&& once) {
    if (way >= samples_.size()) samples_.resize(way + 1);
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < batch_; ++i) {
      once();
      settle();
    }
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    samples_[way].push_back(ns / static_cast<double>(batch_ * count_));
  }
  int rounds() const { return batch_ * count_ > 1'000'000 ? 9 : 31; }
  Summary summary(std::size_t way) const { return summarize({samples_[way]}); }

 private:
  std::uint64_t count_;
  std::uint64_t batch_;
  std::vector<Samples> samples_;
};

/// The times of the loop and of each kernel, printed or added to the report as a row.
class Table {
 public:
  Table(Session& session, Reporter& reporter) : session_(session), reporter_(reporter) {}

  void add(const char* what, const Extent& row, const Turns& turns, const std::vector<Kernel>& kernels,
           const char* chosen) {
    const Summary loop = turns.summary(0);
    if (!session_.options().json) {
      fmt::print("{:<8} {:>2} B, {:>4} to {:>4} apart, {:>8} bytes: loop {:7.3f} ns each", what, row.element,
                 row.from, row.to, row.total, loop.median);
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        fmt::print("; {} {:.2f}", kernels[k].name, turns.summary(k + 1).median / loop.median);
      }
      fmt::print("; chosen {}\n", chosen);
      std::fflush(stdout);
      return;
    }
    Row out;
    out.bench = std::string("vis-kernels ") + what;
    out.conduit = "memory";
    out.ranks = session_.ranks();
    out.bytes = row.total;
    out.figure = loop;
    out.raw_what = std::string("none; chosen: ") + chosen;
    out.extra = {{"element", static_cast<double>(row.element)},
                 {"to_stride", static_cast<double>(row.to)},
                 {"from_stride", static_cast<double>(row.from)}};
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      out.extra.emplace_back(std::string("ratio_") + kernels[k].name,
                             turns.summary(k + 1).median / loop.median);
    }
    reporter_.add(out);
  }

 private:
  Session& session_;
  Reporter& reporter_;
};

/// Measures one row with the loop and with each kernel.
void measure_row(const Extent& row, std::byte* to, const std::byte* from, Table& table) {
  const std::uint64_t count = row.count();
  const std::vector<Kernel> kernels = kernels_for(row);
  const auto run = [&](RowKernel kernel) { kernel(to, row.to, from, row.from, count); };
  Turns turns(count);
  kernels::with_piece(row.element, [&](const auto copy) {
    for (int round = 0; round < turns.rounds(); ++round) {
      turns.time(0, [&] { kernels::copy_row(copy, to, row.to, from, row.from, count); });
      for (std::size_t k = 0; k < kernels.size(); ++k) turns.time(k + 1, [&] { run(kernels[k].run); });
    }
  });
  const auto chosen = kernels::row_kernel({row.element, row.to, row.from, count, count * row.element},
                                          kernels::Processor::here());
  const auto named = std::ranges::find(kernels, chosen, &Kernel::run);
  table.add(row.what, row, turns, kernels, named == kernels.end() ? "loop" : named->name);
}

/// Gathers the elements that a list names, in random order, into a contiguous target. There are no kernels for it.
void measure_gather(std::size_t element, std::size_t total, std::byte* to, const std::byte* from,
                    Table& table) {
  const auto size = static_cast<std::int64_t>(element);
  const Extent row{"gather", element, size, 2 * size, total};
  std::vector<std::int64_t> offsets(row.count());
  std::mt19937_64 random(1);
  for (auto& offset : offsets) offset = static_cast<std::int64_t>(random() % (total / element) * element);
  const auto at = [](const std::byte* p) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p));
  };
  const vis::Row out{at(to), element, size, offsets.size(), nullptr};
  const vis::Row in{at(from), element, 0, offsets.size(), offsets.data()};
  Turns turns(offsets.size());
  for (int round = 0; round < turns.rounds(); ++round) {
    turns.time(0, [&] { vis::copy_rows(out, in, offsets.size()); });
  }
  table.add(row.what, row, turns, {}, "loop");
}

}  // namespace

// Copies in memory by the loop and by each kernel, for sizes from inside the first cache to beyond all caches.
void vis_kernels(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  std::vector<std::size_t> totals{4096, 65536, std::size_t{1} << 20, std::size_t{64} << 20};
  if (options.bytes) totals = options.bytes->sizes();
  if (session.rank() == 0) {
    Table table(session, reporter);
    const std::size_t room = *std::ranges::max_element(totals) + 128;
    std::vector<std::byte> target(room);
    std::vector<std::byte> source(room, std::byte{1});
    const auto aligned = [](std::vector<std::byte>& bytes) {
      const auto odd = reinterpret_cast<std::uintptr_t>(bytes.data()) % 64;
      return bytes.data() + (64 - odd);
    };
    std::byte* const to = aligned(target);
    const std::byte* const from = aligned(source);
    for (const std::size_t element : {1, 2, 4, 8, 16, 32}) {
      const auto size = static_cast<std::int64_t>(element);
      for (const std::size_t total : totals) {
        for (const std::int64_t stride : std::set{2 * size, 3 * size, 4 * size, 8 * size, std::int64_t{12},
                                                  std::int64_t{264}, std::int64_t{4160}}) {
          if (stride <= size || total / static_cast<std::size_t>(stride) < 8) continue;
          measure_row({"pack", element, size, stride, total}, to, from, table);
          measure_row({"unpack", element, stride, size, total}, to, from, table);
          measure_row({"strided", element, stride, stride, total}, to, from, table);
        }
        if (total / element >= 16) measure_gather(element, total, to, from, table);
      }
    }
  }
  require(session.ep().barrier(), "barrier");  // the other ranks wait in this barrier
}

}  // namespace aqueduct::perf
