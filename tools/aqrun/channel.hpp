#pragma once

#include "tools/aqrun/frame.hpp"
#include "tools/aqrun/tube.hpp"

#include <functional>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Frames to and from the other side, over two descriptors; nothing here blocks.
class Channel {
 public:
  enum class State { open, ended, broken };  ///< ended: by the other side; broken: it sent what is no frame

  /// Owns both descriptors.
  Channel(int in, int out) : in_(in), out_(out) {}

  State state() const noexcept { return state_; }
  /// What it sent instead of a frame; at its end, what is not a whole frame.
  std::string_view unread() const noexcept { return frames_.rest(); }
  /// Bytes that the other side has not taken yet.
  std::size_t backlog() const noexcept { return out_.pending(); }

  void send(const Frame& frame) { out_.write(encode(frame)); }
  void wait_for(std::vector<pollfd>& events) const;
  /// Writes what can be; takes in what has arrived, up to a limit, and gives it to `take`. False: nothing had.
  bool serve(const std::function<void(Frame&)>& take);
  void close() noexcept;

 private:
  Tube in_, out_;
  FrameReader frames_;
  State state_ = State::open;
};

/// Above this, in bytes, no more is read that would have to be sent on; chosen.
inline constexpr std::size_t kMostBacklog = std::size_t{1} << 20;
/// What may be on its way of one kind of output, or of the input, without having been taken; chosen, in bytes.
inline constexpr std::uint32_t kWindow = 256u << 10;
/// How much is read, and sent in a frame, at a time; chosen, in bytes.
inline constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace aqrun
