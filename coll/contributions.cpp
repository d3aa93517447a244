#include "coll/contributions.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::coll {
namespace {

/// Precedes a member's bytes in a stream.
struct Head {
  std::uint64_t bytes : 56;
  std::uint64_t call : 8;
  std::uint32_t code;
  Rank rank;  ///< the rank that has the problem
};
static_assert(sizeof(Head) == Contributions::kHead);

Head head_at(std::span<const std::byte> stream, std::size_t at) noexcept {
  Head head;
  std::memcpy(&head, stream.data() + at, sizeof head);
  return head;
}

}  // namespace

ErrorCode code_from(std::uint32_t number) noexcept {
  constexpr auto kLast = static_cast<std::uint32_t>(ErrorCode::internal);
  return static_cast<ErrorCode>(std::min(number, kLast));
}

void Contributions::add(std::span<const std::byte> bytes, Status problem, std::uint8_t call) {
  const Head head{problem ? bytes.size() : 0, call, static_cast<std::uint32_t>(problem.code()),
                  problem.peer()};
  const auto* const first = reinterpret_cast<const std::byte*>(&head);
  begins_.push_back(stream_.size());
  stream_.insert(stream_.end(), first, first + sizeof head);
  if (problem) stream_.insert(stream_.end(), bytes.begin(), bytes.end());
}

bool Contributions::add(std::span<const std::byte> stream, Rank members) {
  const std::size_t at = stream_.size();
  stream_.insert(stream_.end(), stream.begin(), stream.end());
  return find_from(at, members);
}

bool Contributions::add_nothing(Rank members) {
  for (; members > 0; --members) add({}, Status());
  return true;
}

bool Contributions::take(Blob stream, Rank members) {
  stream_ = std::move(stream);
  begins_.clear();
  return find_from(0, members);
}

bool Contributions::find_from(std::size_t at, Rank members) {
  for (; members > 0; --members) {
    if (stream_.size() - at < sizeof(Head)) return false;
    const std::uint64_t bytes = head_at(stream_, at).bytes;
    if (bytes > stream_.size() - at - sizeof(Head)) return false;
    begins_.push_back(at);
    at += sizeof(Head) + bytes;
  }
  return at == stream_.size();
}

std::span<const std::byte> Contributions::operator[](Rank index) const noexcept {
  const std::size_t at = begins_[index];
  return std::span(stream_).subspan(at + sizeof(Head), head_at(stream_, at).bytes);
}

std::uint8_t Contributions::call_of(Rank index) const noexcept {
  return static_cast<std::uint8_t>(head_at(stream_, begins_[index]).call);
}

Status Contributions::first_problem() const noexcept {
  for (const std::size_t at : begins_) {
    const Head head = head_at(stream_, at);
    if (head.code != 0) return {code_from(head.code), head.rank};
  }
  return {};
}

}  // namespace aqueduct::coll
