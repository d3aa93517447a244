#include "core/segment_table.hpp"

namespace aqueduct::core {

SegmentTable::SegmentTable(Rank ranks, std::uint32_t capacity)
    : ranks_(ranks), capacity_(capacity), windows_(capacity), value_windows_(capacity), mine_(capacity) {
  records_.reserve(capacity);
}

SegmentId SegmentTable::add(std::span<std::byte> mine, std::vector<Part> parts) {
  auto windows = std::make_unique<aqueduct::detail::Window[]>(ranks_);  // which may fail: before all else
  auto value_windows = std::make_unique<aqueduct::detail::Window[]>(ranks_);
  const SegmentId id = count_++;
  SegmentRecord& record = records_.emplace_back();
  record.mine = mine;
  record.windows = std::move(windows);
  record.value_windows = std::move(value_windows);
  record.parts = std::move(parts);
  windows_[id] = record.windows.get();
  value_windows_[id] = record.value_windows.get();
  mine_[id] = mine;
  return id;
}

void SegmentTable::take_back() noexcept {
  const SegmentId id = --count_;
  windows_[id] = nullptr;
  value_windows_[id] = nullptr;
  mine_[id] = {};
  records_.pop_back();
}

Result<Part*> SegmentTable::check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept {
  if (at.rank() >= ranks_ || at.segment() >= size()) return ErrorCode::out_of_range;
  Part& part = records_[at.segment()].parts[at.rank()];
  if (at.offset() > part.bytes || bytes > part.bytes - at.offset()) {
    return {ErrorCode::out_of_range, at.rank()};
  }
  return &part;
}

void SegmentTable::set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                              bool for_values) noexcept {
  records_[id].windows[rank] = {base, bytes};
  if (for_values) records_[id].value_windows[rank] = {base, bytes};
  records_[id].parts[rank].reach = Part::Reach::mapped;
}

void SegmentTable::forget(Rank rank) noexcept {
  for (SegmentRecord& record : records_) {
    record.windows[rank] = {};
    record.value_windows[rank] = {};
    record.parts[rank].reach = Part::Reach::reference;
  }
}

}  // namespace aqueduct::core
