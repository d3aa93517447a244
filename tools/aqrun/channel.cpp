#include "tools/aqrun/channel.hpp"

namespace aqrun {

void Channel::wait_for(std::vector<pollfd>& events) const {
  in_.wait_for(events, true);
  out_.wait_for(events, false);
}

bool Channel::serve(const std::function<void(Frame&)>& take) {
  constexpr int kMostPieces = 16;  // limit per call, so that other channels get their turn
  out_.flush();
  if (state_ != State::open) return false;
  std::string piece;
  for (int i = 0; i < kMostPieces && state_ == State::open; ++i) {
    const Tube::Got got = in_.read(piece, kPiece);
    if (got == Tube::Got::nothing) return i > 0;
    if (got == Tube::Got::ended) state_ = State::ended;
    frames_.append(piece);
    while (auto frame = frames_.next()) take(*frame);
    if (frames_.broken()) state_ = State::broken;
  }
  return true;
}

void Channel::close() noexcept {
  in_.close();
  out_.close();
  if (state_ == State::open) state_ = State::ended;
}

}  // namespace aqrun
