#pragma once

#include "am/messages.hpp"
#include "bootstrap/blob.hpp"
#include "coll/barriers.hpp"
#include "core/endpoint_state.hpp"
#include "core/segment_table.hpp"
#include "rma/transfers.hpp"
#include "vis/engine.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::runtime {

using bootstrap::Blob;
using bootstrap::BlobReader;
using bootstrap::BlobWriter;

/// Memory of a segment that no conduit allocates: ordinary pages.
class PlainMemory {
 public:
  static Result<PlainMemory> create(std::size_t bytes);
  PlainMemory(PlainMemory&& other) noexcept;
  PlainMemory& operator=(PlainMemory&&) = delete;
  ~PlainMemory();
  std::span<std::byte> span() const noexcept { return span_; }

 private:
  explicit PlainMemory(std::span<std::byte> span) noexcept : span_(span) {}
  std::span<std::byte> span_;
};

/// One endpoint, whole: its state and the layers over it, which end before it, the last first.
struct EndpointParts {
  EndpointParts(Rank rank, Rank ranks, const Config& config) : state(rank, ranks, config) {
    state.owner = this;
  }
  ~EndpointParts();

  std::vector<PlainMemory> plain;
  aqueduct::detail::EndpointState state;
  std::optional<am::Messages> messages;
  std::optional<rma::Transfers> transfers;
  std::optional<vis::Engine> vis;
  std::optional<coll::Barriers> barriers;
};

/// This rank's part of a new segment, as the others will learn of it.
struct PartOffer {
  std::span<std::byte> memory;
  Blob map_key;
  Blob near_key;
  Blob far_key;

  /// With what the ranks that the near conduit serves need, or those of the far one, or both.
  void write(BlobWriter& out, bool near, bool far) const;
};

/// Allocates (or, given memory, takes) this rank's part and makes the conduits know it. Logs what is wrong.
Result<PartOffer> offer_part(EndpointParts& parts, SegmentId id, std::size_t bytes, std::byte* own_memory);
/// Takes an offer back: another rank could not make one.
void withdraw_part(EndpointParts& parts, SegmentId id, const PartOffer& offer, bool own_memory) noexcept;
/// What another rank's offer means here.
core::Part read_part(aqueduct::detail::EndpointState& state, Rank rank, BlobReader& in);
/// Adds a segment whose parts are known. My own part is mapped at once. `attached`: it is memory of the program's own.
SegmentId add_segment(aqueduct::detail::EndpointState& state, std::span<std::byte> mine,
                      std::vector<core::Part> parts, bool attached = false);

}  // namespace aqueduct::runtime
