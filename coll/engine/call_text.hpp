#pragma once

#include "coll/engine/call_description.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// A text of bounded length: handlers write it, and must not throw. What has no room is cut off, and without memory a
/// piece is left out.
class CallText {
 public:
  static constexpr std::size_t kMost = 511;

  template <class... T>
  void add(fmt::format_string<T...> format, const T&... args) noexcept {
    // Not vformat_to_n: clang 14 and the g++ that has built libfmt do not agree on the name of what that calls.
    try {
      const std::string piece = fmt::vformat(format, fmt::make_format_args(args...));
      const std::size_t fits = std::min(piece.size(), kMost - size_);
      std::memcpy(text_.data() + size_, piece.data(), fits);
      size_ += fits;
    } catch (const std::bad_alloc&) {
      // The text lacks this piece.
    }
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
