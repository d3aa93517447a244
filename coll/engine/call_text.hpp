#pragma once

#include "coll/engine/call_description.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace aqueduct::coll {

/// A text of bounded length that needs no memory of its own: handlers write it, and must not throw. What has no room is
/// cut off.
class CallText {
 public:
  static constexpr std::size_t kMost = 511;

  template <class... T>
  void add(fmt::format_string<T...> format, const T&... args) noexcept {
    const auto room = kMost - size_;
    const auto wrote = fmt::vformat_to_n(text_.data() + size_, room, format, fmt::make_format_args(args...));
    size_ += std::min(wrote.size, room);
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, kMost> text_;
  std::size_t size_ = 0;
};

/// Adds what was called, without whether it was refused.
void add_call(CallText& text, const CallDescription& call) noexcept;
/// Adds the name of an error code that may come from a peer.
void add_refusal(CallText& text, std::uint16_t code) noexcept;

}  // namespace aqueduct::coll
