#include "core/word_wait.hpp"

#include "core/condition_wait.hpp"
#include "core/entry.hpp"
#include "core/refuse.hpp"

#include <array>
#include <atomic>
#include <functional>

namespace aqueduct {

namespace core {
namespace {

/// Compares two values of one type as `how` says. A value outside the enumeration compares as never.
template <class T>
bool compare(Comparison how, T word, T value) noexcept {
  switch (how) {
    case Comparison::equal: return word == value;
    case Comparison::not_equal: return word != value;
    case Comparison::less: return word < value;
    case Comparison::less_equal: return word <= value;
    case Comparison::greater: return word > value;
    case Comparison::greater_equal: return word >= value;
  }
  return false;
}

template <class T>
std::uint64_t load_as(const void* at) noexcept {
  // atomic_ref of a const type comes with C++26.
  return std::atomic_ref<T>(*static_cast<T*>(const_cast<void*>(at))).load(std::memory_order_acquire);
}

std::string text_of(const WaitedWord& word, std::uint64_t bits) {
  if (!word.is_signed) return fmt::format("{}", bits);
  if (word.bytes == 4) return fmt::format("{}", static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

/// The place of an address in this rank's parts of segments. A null pointer if it is in none.
GlobalPtr<const std::byte> place_of(EndpointState& state, const void* address, std::size_t bytes) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  for (SegmentId id = 0; id < state.segments.size(); ++id) {
    const std::span<std::byte> mine = state.segments[id].mine;
    if (mine.size() < bytes || std::less<>{}(at, mine.data())) continue;
    const auto offset = static_cast<std::size_t>(at - mine.data());
    if (offset <= mine.size() - bytes) return {state.rank, offset, id};
  }
  return {};
}

}  // namespace

Status locate(EndpointState& state, WaitedWord& word) noexcept {
  if (state.in_child()) return ErrorCode::invalid_argument;
  // No word would ever compare so, and the wait would have no end.
  if (word.how > Comparison::greater_equal) return ErrorCode::invalid_argument;
  if (word.at != nullptr) {
    word.place = place_of(state, word.at, word.bytes);
    if (!word.place) {
      if (names_refusal(state))
        state.log.error("a wait for the word at {}: it is in no segment of this rank", word.at);
      return ErrorCode::out_of_range;
    }
  } else {
    if (word.place.rank() != state.rank) {
      if (names_refusal(state))
        state.log.error("a wait for a word of rank {}: a rank waits for words of its own part",
                        word.place.rank());
      return ErrorCode::out_of_range;
    }
    const GlobalPtr<std::byte> place{state.rank, word.place.offset(), word.place.segment()};
    if (const auto part = state.segments.check(place, word.bytes); !part)
      return refuse_place(state, place, word.bytes, part.status());
    word.at = state.segments[place.segment()].mine.data() + place.offset();
  }
  if (reinterpret_cast<std::uintptr_t>(word.at) % word.bytes != 0) {
    if (names_refusal(state))
      state.log.error("a wait for the word at {}: its address is not a multiple of {} bytes", word.at,
                      word.bytes);
    return ErrorCode::misaligned;
  }
  return {};
}

std::uint64_t load_word(const WaitedWord& word) noexcept {
  return word.bytes == 4 ? load_as<std::uint32_t>(word.at) : load_as<std::uint64_t>(word.at);
}

bool compares(const WaitedWord& word, std::uint64_t bits) noexcept {
  if (!word.is_signed) return compare(word.how, bits, word.value);
  if (word.bytes == 8)
    return compare(word.how, static_cast<std::int64_t>(bits), static_cast<std::int64_t>(word.value));
  const auto narrow = [](std::uint64_t wide) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(wide));
  };
  return compare(word.how, narrow(bits), narrow(word.value));
}

std::string describe_word(const WaitedWord& word) {
  constexpr std::array<const char*, 6> kSigns{"==", "!=", "<", "<=", ">", ">="};
  const auto how = static_cast<std::size_t>(word.how);
  return fmt::format("the {}-bit word at segment {}, offset {} to be {} {} (it is {})", 8 * word.bytes,
                     word.place.segment(), word.place.offset(), how < kSigns.size() ? kSigns[how] : "?",
                     text_of(word, word.value), text_of(word, load_word(word)));
}

}  // namespace core

namespace detail {

Status wait_on_word(Endpoint& ep, const WaitedWord& what, std::chrono::nanoseconds limit,
                    Rank from) noexcept {
  EndpointState& state = ep.state();
  core::Entry entry(state);
  WaitedWord word = what;
  if (Status status = core::locate(state, word); !status) return status;
  return core::wait_for_condition(
      state, [&] { return core::compares(word, core::load_word(word)); }, from,
      [&] { return core::describe_word(word); }, limit);
}

Status test_word(Endpoint& ep, const WaitedWord& what, bool& holds) noexcept {
  EndpointState& state = ep.state();
  core::Entry entry(state);
  WaitedWord word = what;
  if (Status status = core::locate(state, word); !status) return status;
  holds = core::compares(word, core::load_word(word));
  if (!holds && core::progress(state) != 0) holds = core::compares(word, core::load_word(word));
  return {};
}

}  // namespace detail

}  // namespace aqueduct
