#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"

#include <map>
#include <vector>

namespace aqueduct::conduits::smp {

class Cma;
class SmpNetwork;

/// Is informed about attached segments: the program's own memory, which other processes cannot map.
class Attachments {
 public:
  virtual void attached(SegmentId id, core::MutableBytes memory) noexcept = 0;
  virtual void detached(SegmentId id) noexcept = 0;

 protected:
  ~Attachments() = default;
};

/// Segments that neighbours map.
class MappedSegments final : public core::CrossMap {
 public:
  MappedSegments(SmpNetwork& network, Rank me, Attachments& attachments, const Cma& cma) noexcept
      : network_(network), me_(me), attachments_(attachments), cma_(cma) {}
  void connect(Arena& arena) noexcept { arena_ = &arena; }

  Result<core::MutableBytes> allocate(std::uint32_t number, std::size_t bytes) override;
  Room room() const override;
  void release(core::MutableBytes memory) noexcept override;
  std::vector<std::byte> export_map(SegmentId id, core::MutableBytes memory, bool allocated) override;
  Result<std::byte*> map(Rank peer, core::Bytes key, std::size_t bytes) override;
  void unmap(Rank peer, std::byte* at) noexcept override;
  void wake(Rank peer) noexcept override;
  Sleeper sleeper(Rank peer) const noexcept override;
  std::vector<std::byte> export_process() override;
  bool in_this_process(Rank peer) const noexcept override;

 private:
  SmpNetwork& network_;
  Rank me_;
  Attachments& attachments_;
  const Cma& cma_;
  Arena* arena_ = nullptr;
  std::map<const std::byte*, std::vector<std::byte>> keys_;  // by address: keys of the memory allocated here
};

}  // namespace aqueduct::conduits::smp
