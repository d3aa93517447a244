#include "core/segment_table.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::core {

using aqueduct::detail::Window;

namespace {

// Chosen: rows become writable in steps of this many bytes. Each step is a system call.
constexpr std::size_t kRowStep = std::size_t{64} << 10;
// The job's own two segments and two more: where these rows lie in their page is chosen (below).
constexpr std::uint32_t kFewestSegments = 4;
// The table begins at least this many bytes before the end of a page, so that its first rows lie there. A put looks up its
// target in the table. On Zen 4 (measured) that load waits while an earlier store to the same offset of another page is
// unfinished, and most transfers store at the start of a page. So the table lies elsewhere:
// docs/decisions/0108-tables-at-the-end-of-pages.md.
constexpr std::size_t kLeastAtEndOfPage = 1024;
constexpr std::size_t kMostAtEndOfPage = 3072;

}  // namespace

std::uint32_t SegmentTable::shift_of(Rank ranks) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(ranks - 1)) + 1;  // a window, and one for values
}

/// Where the table begins in its pages.
std::size_t SegmentTable::start_of(std::uint32_t shift) noexcept {
  const std::size_t first = sizeof(Shown) + (std::size_t{kFewestSegments} << shift) * sizeof(Window);
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) -
         std::clamp(first, kLeastAtEndOfPage, kMostAtEndOfPage);
}

std::size_t SegmentTable::bytes_of_rows(std::uint32_t rows, std::uint32_t shift) noexcept {
  return start_of(shift) + sizeof(Shown) + (std::size_t{rows} << shift) * sizeof(Window);
}

/// The number of rows to reserve. Under `ulimit -v` they take at most 1/64 of the addresses, as operations do
/// (core/op.cpp).
std::uint32_t SegmentTable::affordable(std::uint32_t capacity, std::uint32_t shift) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return capacity;
  while (capacity > kFewestRows && bytes_of_rows(capacity, shift) > limit.rlim_cur / 64) capacity /= 2;
  return capacity;
}

// Rows that have no segment yet read as zeroes and take no memory: the system counts only pages that can be written.
WipedMemory SegmentTable::reserve(std::uint32_t& capacity, std::uint32_t shift) {
  for (;;) {
    try {
      return {0, bytes_of_rows(std::max(capacity, kFewestRows), shift), bytes_of_rows(0, shift)};
    } catch (const std::bad_alloc&) {
      if (capacity <= kFewestRows) throw;
      capacity /= 2;
    }
  }
}

SegmentTable::SegmentTable(Rank ranks, std::uint32_t capacity)
    : shift_(shift_of(ranks)),
      capacity_(affordable(capacity, shift_)),
      pages_(reserve(capacity_, shift_)),
      shown_(new (pages_.border() + start_of(shift_)) Shown{ranks, 0}),
      windows_(reinterpret_cast<Window*>(shown_ + 1)),
      value_windows_(windows_ + (std::size_t{1} << (shift_ - 1))) {}

void SegmentTable::make_rows(std::uint32_t rows) {
  const std::size_t bytes = bytes_of_rows(rows, shift_);
  if (!pages_.extend((bytes + kRowStep - 1) / kRowStep * kRowStep)) throw std::bad_alloc();
}

SegmentId SegmentTable::add(std::span<std::byte> mine, std::vector<SegmentPart> parts, Rank first) {
  const SegmentId id = size();
  make_rows(id + 1);
  records_.resize(std::size_t{id} + 1);
  records_[id].mine = mine;
  records_[id].first = first;
  records_[id].parts = std::move(parts);
  shown_->segments = id + 1;
  return id;
}

void SegmentTable::take_back() noexcept {
  const SegmentId id = size() - 1;
  static_cast<void>(release(id));
  records_.pop_back();
  shown_->segments = id;
}

void SegmentTable::skip_to(SegmentId next) {
  if (next <= size()) return;
  make_rows(next);
  records_.resize(next);
  shown_->segments = next;
}

Status SegmentTable::refusal(SegmentId id) const noexcept {
  if (in_child()) return ErrorCode::invalid_argument;
  return id < size() && records_[id].released ? ErrorCode::closed : ErrorCode::out_of_range;
}

Result<SegmentPart*> SegmentTable::check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  auto* const part = const_cast<SegmentPart*>(find(at));
  if (part == nullptr || part->reach == SegmentPart::Reach::none) return refusal(at.segment());
  if (at.offset() > part->bytes || bytes > part->bytes - at.offset()) {
    return {ErrorCode::out_of_range, at.rank()};
  }
  return part;
}

// A window always opens with the same address, since a segment's number is never used again; a veil closes it for a
// while. A reader on another thread reads the
// size first, with acquire, and then the address. It treats the window as closed if it sees a size without an address,
// because the window has just been closed. So a reader gets both or neither.
void SegmentTable::set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                              bool for_values) noexcept {
  const std::size_t at = (std::size_t{id} << shift_) | rank;
  const auto open = [&](Window& window) {
    window.base.store(base, std::memory_order_relaxed);
    window.bytes.store(bytes, std::memory_order_release);
  };
  open(windows_[at]);
  if (for_values) open(value_windows_[at]);
  records_[id].part(rank)->reach = SegmentPart::Reach::mapped;
}

void SegmentTable::close(SegmentId id, Rank rank) noexcept {
  const std::size_t at = (std::size_t{id} << shift_) | rank;
  for (Window* window : {&windows_[at], &value_windows_[at]}) {
    if (window->base.load(std::memory_order_relaxed) == nullptr) continue;
    window->bytes.store(0, std::memory_order_release);
    window->base.store(nullptr, std::memory_order_relaxed);
  }
}

SegmentRecord SegmentTable::release(SegmentId id) noexcept {
  SegmentRecord ended = std::exchange(records_[id], {});
  for (Rank i = 0; i < ended.parts.size(); ++i) close(id, ended.first + i);
  records_[id].released = true;
  return ended;
}

void SegmentTable::veil(Rank rank, bool veiled) noexcept {
  for (SegmentId id = 0; id < size(); ++id) {
    const SegmentPart* const part = records_[id].part(rank);
    if (part == nullptr || part->reach != SegmentPart::Reach::mapped || part->mapped_at == nullptr) continue;
    if (veiled) {
      close(id, rank);
    } else {
      set_window(id, rank, part->mapped_at, part->bytes);
    }
  }
}

void SegmentTable::forget(Rank rank) noexcept {
  for (SegmentId id = 0; id < size(); ++id) {
    SegmentPart* const part = records_[id].part(rank);
    if (part == nullptr || part->reach == SegmentPart::Reach::none) continue;
    close(id, rank);
    part->reach = SegmentPart::Reach::reference;
  }
}

}  // namespace aqueduct::core
