#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace aqueduct::core {

/// Which native operations treat an aligned word (1, 2, 4 or 8 bytes at a multiple of that) as one: a put stores it once
/// and a get loads it once, whole, as docs/memory-model.md says (M-1 to M-3). In rising order.
enum class WholeWords : std::uint8_t {
  none,           ///< not promised: words go by the reference layer, or by native atomics
  puts,           ///< of puts, with or without a signal; gets of words go in another way
  puts_and_gets,  ///< of both
};

/// Facts about a conduit. They do not change after `connect`; `name`, `network` and `max_packet` do not change at all.
struct Properties {
  std::string name;  ///< such as "smp"
  /// What carries the packets, in words that are equal wherever measurements of one job hold for another: "tcp on eth0".
  /// Empty: the name says it all. Measurements are used over the same network only (docs/tuning.md).
  std::string network;
  std::size_t max_packet = 0;    ///< bytes of one send, header and payload; the same on all ranks
  std::size_t max_transfer = 0;  ///< bytes of one native put or get; the layers above split longer ones
  std::size_t max_inject = 0;    ///< largest put for which NativeRma::put accepts `inject`
  /// Up to this size NativeSignal::put_signal reads `from` only during the call.
  std::size_t max_inject_signal = 0;
  /// The largest amount of a signal that NativeSignal::put_signal carries with the bytes; a larger one costs a message
  /// more.
  std::uint64_t max_signal_add = UINT64_MAX;
  bool put_before_send = false;   ///< a later send to the same peer arrives after an earlier put's bytes
  bool put_before_put = false;    ///< the bytes of a later put to the same peer arrive after an earlier put's
  bool send_before_send = false;  ///< a later packet to the same peer is delivered after an earlier one
  std::size_t max_ordered = SIZE_MAX;  ///< largest put for which put_before_send and put_before_put hold
  bool concurrent_posts = false;       ///< another thread may post while the endpoint's thread polls
  bool reports_lost_peers = false;     ///< calls Inbox::lost without help of the launcher
  /// Not of lists of pieces. Say beside the value why it is so.
  WholeWords whole_words = WholeWords::none;
  /// The processors of both ends move the bytes of native puts, through the system's sockets. Teams of which a member has
  /// such a conduit copy blocks rather than ask a peer where they shall go (coll/tune/rules.cpp).
  bool through_sockets = false;
  bool copies = true;  ///< send never answers `posted`, and the payload is free at return
};

/// The least max_packet that a conduit may have.
inline constexpr std::size_t kLeastPacket = 256;
/// The longest header that the layers above send.
inline constexpr std::size_t kMostHeader = 128;

}  // namespace aqueduct::core
