// Packets from a peer to the layers of messages, puts and gets, barriers and exchanges, and to a user's handlers. In
// addition to the sanitizers' checks: when the peer is lost, every operation ends exactly once.
#include "fuzz/packets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aqueduct;
  using aqueduct::test::KnownHandler;
  static const auto handlers = [] {
    std::vector<KnownHandler> all;
    for (const KnownHandler& one : test::kLayersHandlers) {
      if (one.id < vis::kPackedPut) all.push_back(one);
    }
    constexpr HandlerId kUsers = fuzz::Talk::kUsers;
    constexpr std::uint16_t kArgs = sizeof(std::uint64_t);
    all.push_back({kUsers, AmCategory::short_reply, kArgs});
    all.push_back({kUsers + 1, AmCategory::short_request, kArgs});
    all.push_back({kUsers + 2, AmCategory::medium_request, kArgs});
    all.push_back({kUsers + 3, AmCategory::long_request, kArgs});
    // Raw messages: to a number that is registered, in each category, and to one that is not.
    const std::uint32_t space = am::RawSpaces::number_of(fuzz::Talk::kSpace);
    const auto raw = [&](AmCategory category, std::uint8_t number) {
      all.push_back({static_cast<HandlerId>(space), category, kArgs, am::raw_word(space, number, 9)});
    };
    for (int category = 0; category < 6; ++category) raw(static_cast<AmCategory>(category), fuzz::Talk::kRaw);
    raw(AmCategory::short_request, 0);
    // At the end, so that the numbers in older inputs keep their meaning.
    for (const KnownHandler& one : test::kLayersHandlers) {
      if (one.id >= am::kCollAbort) all.push_back(one);
    }
    return all;
  }();
  return fuzz::run_packets(data, size, handlers);
}
