#include "core/segment_table.hpp"

#include <new>

namespace aqueduct::core {

using aqueduct::detail::Window;

// Two flat tables with a row for each segment. Zeroes are closed windows, so pages take memory only where windows open.
SegmentTable::SegmentTable(Rank ranks, std::uint32_t capacity)
    : capacity_(capacity),
      pages_(0, sizeof(Shown) + std::size_t{2} * capacity * ranks * sizeof(Window)),
      shown_(new (pages_.border()) Shown{ranks, 0}),
      windows_(reinterpret_cast<Window*>(pages_.border() + sizeof(Shown))),
      value_windows_(windows_ + std::size_t{capacity} * ranks),
      mine_(capacity) {
  records_.reserve(capacity);
}

SegmentId SegmentTable::add(std::span<std::byte> mine, std::vector<Part> parts) {
  const SegmentId id = shown_->segments;
  SegmentRecord& record = records_.emplace_back();
  record.mine = mine;
  record.parts = std::move(parts);
  mine_[id] = mine;
  shown_->segments = id + 1;
  return id;
}

void SegmentTable::take_back() noexcept {
  const SegmentId id = --shown_->segments;
  for (Rank rank = 0; rank < shown_->ranks; ++rank) {
    windows_[std::size_t{id} * shown_->ranks + rank] = {};
    value_windows_[std::size_t{id} * shown_->ranks + rank] = {};
  }
  mine_[id] = {};
  records_.pop_back();
}

Result<Part*> SegmentTable::check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  if (!there_is(at)) return in_child() ? ErrorCode::invalid_argument : ErrorCode::out_of_range;
  Part& part = records_[at.segment()].parts[at.rank()];
  if (at.offset() > part.bytes || bytes > part.bytes - at.offset()) {
    return {ErrorCode::out_of_range, at.rank()};
  }
  return &part;
}

void SegmentTable::set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                              bool for_values) noexcept {
  const std::size_t at = std::size_t{id} * shown_->ranks + rank;
  windows_[at] = {base, bytes};
  if (for_values) value_windows_[at] = {base, bytes};
  records_[id].parts[rank].reach = Part::Reach::mapped;
}

void SegmentTable::forget(Rank rank) noexcept {
  for (SegmentId id = 0; id < size(); ++id) {
    windows_[std::size_t{id} * shown_->ranks + rank] = {};
    value_windows_[std::size_t{id} * shown_->ranks + rank] = {};
    records_[id].parts[rank].reach = Part::Reach::reference;
  }
}

}  // namespace aqueduct::core
