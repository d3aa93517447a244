#include "coll/piece_stream.hpp"

namespace aqueduct::coll {

bool PieceStream::add(std::uint64_t at, std::uint64_t total, std::span<const std::byte> piece) {
  if (piece.empty() || at > total || piece.size() > total - at) return false;
  if (total_ != 0 && total != total_) return false;
  const auto next = pieces_.lower_bound(at);
  if (next != pieces_.end() && next->first - at < piece.size()) return false;
  if (next != pieces_.begin()) {
    const auto before = std::prev(next);
    if (at - before->first < before->second.size()) return false;
  }
  pieces_.emplace_hint(next, at, Blob(piece.begin(), piece.end()));
  total_ = total;
  arrived_ += piece.size();
  return true;
}

Blob PieceStream::take() {
  if (pieces_.size() == 1) return std::move(pieces_.begin()->second);
  Blob all;
  all.reserve(total_);
  for (const auto& [at, piece] : pieces_) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

}  // namespace aqueduct::coll
