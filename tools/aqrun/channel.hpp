#pragma once

#include "tools/aqrun/frame.hpp"
#include "tools/aqrun/tube.hpp"

#include <functional>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Sends and receives frames over two descriptors; nothing blocks.
class Channel {
 public:
  enum class State { open, ended, broken };  ///< ended: by the other side; broken: it sent an invalid frame

  /// Owns both descriptors.
  Channel(int in, int out) : in_(in), out_(out) {}

  State state() const noexcept { return state_; }
  /// If broken, the bytes that are not a frame; at the end of the stream, an incomplete frame.
  std::string_view unread() const noexcept { return frames_.rest(); }
  /// Bytes that the other side has not accepted yet.
  std::size_t backlog() const noexcept { return out_.pending(); }

  void send(const Frame& frame) { out_.write(encode(frame)); }
  void wait_for(std::vector<pollfd>& events) const;
  /// Writes as much as possible; receives what has arrived, up to a limit, and
  /// passes it to `take`. False: nothing arrived.
  bool serve(const std::function<void(Frame&)>& take);
  void close() noexcept;

 private:
  Tube in_, out_;
  FrameReader frames_;
  State state_ = State::open;
};

/// With a longer backlog, nothing more is read that would have to be sent on; chosen, in bytes.
inline constexpr std::size_t kMostBacklog = std::size_t{1} << 20;
/// How many bytes of one output stream, or of the input, may be sent without having been acknowledged; chosen.
inline constexpr std::uint32_t kWindow = 256u << 10;
/// How many bytes are read, and sent in one frame, at a time; chosen.
inline constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace aqrun
