// Puts and gets of all sizes, single values, strided transfers, and addresses of other ranks.

#include <aqueduct/vis.hpp>

#include "tests/layer/parts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace aqueduct::layer {
namespace {

/// 16 bytes: long double, or two words.
struct Wide {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// The rank's value of a type.
template <class T>
T value_of(Rank rank) {
  return static_cast<T>(0x1122334455667788ull + rank);
}

template <class T>
void one_value(Pe& pe) {
  const auto word = pe.heap.allocate<T>(2);
  pe.report.need(put_value_nbi(pe.ep, word.on(pe.next()), value_of<T>(pe.me())), "put_value_nbi");
  pe.report.need(put_value(pe.ep, word.on(pe.next(), 1), value_of<T>(pe.me())), "put_value");
  pe.barrier();
  pe.report.equal<T>(word[0], value_of<T>(pe.previous()), "put_value_nbi from the previous rank");
  pe.report.equal<T>(word[1], value_of<T>(pe.previous()), "put_value from the previous rank");
  const T got = pe.report.need(get_value(pe.ep, word.on(pe.next())), "get_value");
  pe.report.equal<T>(got, value_of<T>(pe.me()), "get_value from the next rank");
}

/// OpenSHMEM's iput: every `to_stride`-th element there from every `from_stride`-th here.
template <class T>
Status iput(Pe& pe, GlobalPtr<T> to, std::int64_t to_stride, const T* from, std::int64_t from_stride,
            std::size_t count) {
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  return put_nbi(pe.ep, pieces(to, Strided(sizeof(T), {{count, to_stride * bytes}})),
                 pieces(from, Strided(sizeof(T), {{count, from_stride * bytes}})));
}
template <class T>
Status iget(Pe& pe, T* to, std::int64_t to_stride, GlobalPtr<T> from, std::int64_t from_stride,
            std::size_t count) {
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  return get_nbi(pe.ep, pieces(to, Strided(sizeof(T), {{count, to_stride * bytes}})),
                 pieces(from, Strided(sizeof(T), {{count, from_stride * bytes}})));
}

}  // namespace

void puts_and_gets(Pe& pe) {
  constexpr std::size_t kSizes[] = {0, 1, 3, 8, 64, 1000, 4097, 70'000};
  const std::size_t all = std::accumulate(std::begin(kSizes), std::end(kSizes), std::size_t{0});
  const auto area = pe.heap.allocate<std::byte>(all);
  std::vector<std::byte> mine(all), back(all);
  fill_pattern(mine, pe.me());
  pe.barrier();
  std::size_t at = 0;
  for (const std::size_t size : kSizes) {
    pe.report.need(put_nbi(pe.ep, area.on(pe.next(), at), std::span(mine).subspan(at, size)), "put_nbi");
    at += size;
  }
  pe.barrier();
  pe.report.all(
      area.mine(), [&](std::size_t i) { return pattern(pe.previous(), i); }, "puts of the previous rank");
  at = 0;
  for (const std::size_t size : kSizes) {
    pe.report.need(get_nbi(pe.ep, std::span(back).subspan(at, size), area.on(pe.next(), at)), "get_nbi");
    at += size;
  }
  pe.quiet();
  pe.report.all(
      std::span(back), [&](std::size_t i) { return pattern(pe.me(), i); }, "gets of what I put");

  one_value<std::uint8_t>(pe);
  one_value<std::int16_t>(pe);
  one_value<std::uint32_t>(pe);
  one_value<std::int64_t>(pe);
  const auto wide = pe.heap.allocate<Wide>();
  pe.report.need(put_value(pe.ep, wide.on(pe.next()), Wide{pe.me(), ~std::uint64_t{pe.me()}}),
                 "put 16 bytes");
  pe.barrier();
  const Wide got = pe.report.need(get_value(pe.ep, wide.on(pe.next())), "get 16 bytes");
  pe.report.equal<std::uint64_t>(got.low, pe.me(), "the first half of 16 bytes");
  pe.report.equal<std::uint64_t>(got.high, ~std::uint64_t{pe.me()}, "the second half of 16 bytes");
}

void strided(Pe& pe) {
  constexpr std::size_t kRows = 12, kColumns = 10;
  const auto cell = [](Rank rank, std::size_t row, std::size_t column) {
    return static_cast<std::int32_t>(1000 * rank + 20 * row + column);
  };
  std::vector<std::int32_t> matrix(kRows * kColumns), back(kRows * kColumns);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = cell(pe.me(), i / kColumns, i % kColumns);
  const auto turned = pe.heap.allocate<std::int32_t>(kRows * kColumns);  // transposed, its rows backwards
  pe.barrier();
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto row_end = turned.on(pe.next(), (column + 1) * kRows - 1);
    pe.report.need(iput<std::int32_t>(pe, row_end, -1, &matrix[column], kColumns, kRows), "iput");
  }
  pe.barrier();
  pe.report.all(
      turned.mine(), [&](std::size_t i) { return cell(pe.previous(), kRows - 1 - i % kRows, i / kRows); },
      "the transposed matrix of the previous rank");
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto row_end = turned.on(pe.next(), (column + 1) * kRows - 1);
    pe.report.need(iget<std::int32_t>(pe, &back[column], kColumns, row_end, -1, kRows), "iget");
  }
  pe.quiet();
  pe.report.all(
      std::span(back), [&](std::size_t i) { return matrix[i]; }, "the matrix, got and turned back");
}

void addresses(Pe& pe) {
  const auto bases = pe.heap.allocate<std::uint64_t>(pe.ranks());
  pe.barrier();
  const auto mine = reinterpret_cast<std::uint64_t>(pe.heap.segment().mine().data());
  for (Rank to = 0; to < pe.ranks(); ++to) {
    pe.report.need(put_value_nbi(pe.ep, bases.on(to, pe.me()), mine), "tell my address");
  }
  pe.barrier();
  for (Rank of = 0; of < pe.ranks(); ++of) {
    pe.report.equal<std::uint64_t>(pe.heap.segment().base_of(of), bases[of], "the heap's address at rank",
                                   of);
    // shmem_ptr: null, or the object itself.
    if (const std::uint64_t* const there = pe.ep.local(bases.on(of, of))) {
      pe.report.holds(pe.heap.segment().is_mapped(of), "what has a local address is mapped");
      pe.report.equal<std::uint64_t>(*there, bases[of], "a word through its local address, of rank", of);
    }
  }
}

}  // namespace aqueduct::layer
