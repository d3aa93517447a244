// Registrations on a fake domain: no card that pins memory and has long keys is at hand.

#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/local_cache.hpp"
#include "conduits/ofi/registrations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

namespace aqueduct::conduits::ofi {
namespace {

/// A fake domain that pins up to `most` ranges, and maps long keys to words.
struct Card {
  fid_domain domain{};  // first: the functions below get its address
  fi_ops ops{};
  fi_ops_mr mr{};
  int most = 2;
  int pinned = 0;
  int refusal = -FI_ENOMEM;
  std::uint64_t most_key = UINT64_MAX;
  std::uint64_t keys = 100;
  std::set<std::uint64_t> keys_in_use;  // of those that the caller chooses
  std::vector<std::uint64_t> unmapped;

  Card() {
    ops.size = sizeof ops;
    ops.control = control;
    mr.size = sizeof mr;
    mr.reg = pin;
    domain.fid.ops = &ops;
    domain.mr = &mr;
  }

  struct Region {
    fid_mr mr{};
    fi_ops ops{};
    Card* card = nullptr;
  };

  static Card& of(fid* domain) { return *reinterpret_cast<Card*>(domain); }
  static int pin(fid* domain, const void*, std::size_t, std::uint64_t, std::uint64_t, std::uint64_t key,
                 std::uint64_t, fid_mr** out, void*) {
    Card& card = of(domain);
    if (card.pinned == card.most) return card.refusal;
    if (key > card.most_key) return -FI_EINVAL;
    if (key != 0 && !card.keys_in_use.insert(key).second) return -FI_ENOKEY;
    ++card.pinned;
    auto* const region = new Region;
    region->card = &card;
    region->ops.size = sizeof region->ops;
    region->ops.close = unpin;
    region->mr.fid.ops = &region->ops;
    region->mr.mem_desc = region;
    region->mr.key = key;
    *out = &region->mr;
    return 0;
  }
  static int unpin(fid* mr) {
    const std::unique_ptr<Region> region(reinterpret_cast<Region*>(mr));
    --region->card->pinned;
    region->card->keys_in_use.erase(region->mr.key);
    return 0;
  }
  static int control(fid* domain, int command, void* argument) {
    Card& card = of(domain);
    if (command == FI_UNMAP_KEY) {
      card.unmapped.push_back(*static_cast<std::uint64_t*>(argument));
      return 0;
    }
    if (command != FI_MAP_RAW_MR) return -FI_ENOSYS;
    *static_cast<struct fi_mr_map_raw*>(argument)->key = card.keys++;
    return 0;
  }
};

class OfiMemory : public testing::Test {
 protected:
  OfiMemory() {
    attributes_.mr_mode = FI_MR_LOCAL | FI_MR_RAW | FI_MR_PROV_KEY;
    info_.domain_attr = &attributes_;
    provider_.library.strerror = [](int) { return "no memory"; };
    provider_.info = Info(&info_, FreeInfo{[](fi_info*) {}});
    registrations.emplace(card.domain, ep_, provider_, 0, log_);
  }

  /// Changes the domain so that its user chooses the keys; each key has `bytes` bytes.
  void choose_keys(std::size_t bytes) {
    attributes_.mr_mode = FI_MR_LOCAL;
    attributes_.mr_key_size = bytes;
    card.most_key = (std::uint64_t{1} << 8 * bytes) - 1;
    registrations.emplace(card.domain, ep_, provider_, 0, log_);
  }

  Card card;
  std::optional<Registrations> registrations;

 private:
  fi_domain_attr attributes_{};
  fi_info info_{};
  fid_ep ep_{};
  Provider provider_;
  core::Log log_{core::LogLevel::warn, [](core::LogLevel, std::string_view) {}};
};

TEST_F(OfiMemory, LongKeysAreGivenBackAtTheEnd) {
  // A peer's key as register_segment makes it: 24 bytes, the last four of which are the length of the raw key that follows.
  std::array<std::byte, 24 + 5> blob{};
  blob[20] = std::byte{5};
  const auto first = registrations->import(1, blob);
  const auto second = registrations->import(2, blob);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(registrations->remote(*first).key, 100u);
  EXPECT_EQ(registrations->remote(*second).key, 101u);
  blob[20] = std::byte{};
  ASSERT_TRUE(registrations->import(3, std::span(blob).first(24))) << "a short one, which nobody maps";
  EXPECT_TRUE(card.unmapped.empty());
  registrations.reset();
  EXPECT_THAT(card.unmapped, testing::UnorderedElementsAre(100u, 101u));
}

TEST_F(OfiMemory, ThatOtherTransfersPinIsWaitedForAndALimitBelowOneIsAnError) {
  std::vector<std::byte> memory(3000);
  const auto piece = [&](std::size_t i) { return core::Bytes(memory).subspan(1000 * i, 1000); };
  LocalCache cache(*registrations, 0);
  int error = 0;
  Registration* const first = cache.borrow(piece(0), core::LocalUse::write, error);
  Registration* const second = cache.borrow(piece(1), core::LocalUse::write, error);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(cache.borrow(piece(2), core::LocalUse::write, error), nullptr);
  EXPECT_EQ(error, -FI_EAGAIN) << "until one of the two ends";
  card.refusal = -FI_EINVAL;
  EXPECT_EQ(cache.borrow(piece(2), core::LocalUse::write, error), nullptr);
  EXPECT_EQ(error, -FI_EINVAL) << "which waiting does not mend";
  cache.give_back(*first);
  Registration* const third = cache.borrow(piece(2), core::LocalUse::write, error);
  ASSERT_NE(third, nullptr);
  cache.give_back(*second);
  cache.give_back(*third);
  EXPECT_EQ(card.pinned, 0);
  card.most = 0;
  card.refusal = -FI_ENOMEM;
  EXPECT_EQ(cache.borrow(piece(0), core::LocalUse::write, error), nullptr);
  EXPECT_EQ(error, -FI_ENOMEM) << "nobody will give anything back";
}

TEST_F(OfiMemory, ThatIsKeptGoesWhenALimitIsReached) {
  std::vector<std::byte> memory(3000);
  LocalCache cache(*registrations, 1 << 20);
  int error = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    Registration* const borrowed =
        cache.borrow(core::Bytes(memory).subspan(1000 * i, 1000), core::LocalUse::write, error);
    ASSERT_NE(borrowed, nullptr) << i;
    cache.give_back(*borrowed);
  }
  EXPECT_EQ(card.pinned, 2);
}

// A provider whose keys have one byte, and memory that is registered for long beside much that is not.
TEST_F(OfiMemory, HasKeysAgainWhenAllHaveBeenUsed) {
  choose_keys(1);
  std::vector<std::byte> memory(2000);
  LocalBuffers buffers(*registrations, true, 0);
  void* descriptor = nullptr;
  ASSERT_EQ(buffers.add(core::MutableBytes(memory).first(1000), descriptor), 0);
  LocalCache cache(*registrations, 0);
  for (int i = 0; i < 600; ++i) {
    int error = 0;
    Registration* const borrowed = cache.borrow(core::Bytes(memory).last(1000), core::LocalUse::write, error);
    ASSERT_NE(borrowed, nullptr) << "registration " << i << ": " << error;
    cache.give_back(*borrowed);
  }
}

TEST_F(OfiMemory, ForTheListOfTheOwnIsAnErrorIfThereIsNone) {
  std::vector<std::byte> memory(1000);
  LocalBuffers buffers(*registrations, true, 0);
  void* descriptor = nullptr;
  {
    const loop::NoMemory none(1);
    EXPECT_EQ(buffers.add(memory, descriptor), -FI_ENOMEM);
  }
  EXPECT_EQ(card.pinned, 0);
  EXPECT_EQ(buffers.add(memory, descriptor), 0);
}

// The endpoint says so before it unmaps a neighbour's part, in which local buffers may have been.
TEST_F(OfiMemory, ThatEndsIsNotKept) {
  std::vector<std::byte> memory(3000);
  LocalBuffers buffers(*registrations, true, 1 << 20);
  const auto use = [&](core::Bytes buffer) {
    Request request;
    void* descriptor = nullptr;
    std::int64_t answer = 0;
    ASSERT_TRUE(buffers.lend(request, buffer, core::LocalUse::read, descriptor, answer)) << answer;
    buffers.give_back(request);
  };
  use(core::Bytes(memory).first(1000));
  use(core::Bytes(memory).last(1000));
  ASSERT_EQ(card.pinned, 2);
  buffers.invalidate(core::Bytes(memory).subspan(500, 1000));
  EXPECT_EQ(card.pinned, 1);
}

}  // namespace
}  // namespace aqueduct::conduits::ofi
