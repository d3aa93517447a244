// The parts of the conduit that need no network.

#include "conduits/ofi/cma_access.hpp"
#include "conduits/ofi/errors.hpp"
#include "conduits/ofi/provider.hpp"
#include "conduits/ofi/quirks.hpp"
#include "conduits/ofi/requests.hpp"
#include "conduits/ofi/wire.hpp"
#include "core/to_self.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace aqueduct::conduits::ofi {
namespace {

TEST(OfiCqData, CarriesAllThatFitsAndNothingElse) {
  constexpr std::uint64_t kMost24 = (1u << 24) - 1;
  for (const std::uint64_t rank : {std::uint64_t{0}, std::uint64_t{7}, kMost24, kMost24 + 1}) {
    for (const std::uint64_t slot : {std::uint64_t{0}, kMost24, kMost24 + 1}) {
      for (const std::uint64_t add : {0, 1, 0xffff, 0x10000}) {
        const CqData sent{static_cast<Rank>(rank), {static_cast<SignalSlot>(slot), add}};
        const auto data = encode(sent);
        ASSERT_EQ(data.has_value(), rank <= kMost24 && slot <= kMost24 && add <= 0xffff);
        if (!data) continue;
        const CqData heard = decode(*data);
        EXPECT_EQ(heard.from, sent.from);
        EXPECT_EQ(heard.signal.slot, sent.signal.slot);
        EXPECT_EQ(heard.signal.add, sent.signal.add);
      }
    }
  }
}

TEST(OfiQuirks, PrefersHardwareAndKnowsWhatIsBroken) {
  EXPECT_LT(preference_of("verbs;ofi_rxm"), preference_of("tcp;ofi_rxm"));
  EXPECT_LT(preference_of("tcp;ofi_rxm"), preference_of("sockets"));
  EXPECT_LT(preference_of("shm"), preference_of("something new"));
  EXPECT_FALSE(quirks_of("udp;ofi_rxd").no_atomics.empty());
  EXPECT_TRUE(why_no_atomics(quirks_of("tcp;ofi_rxm")).empty());
  EXPECT_EQ(why_no_atomics(quirks_of("udp;ofi_rxd")), quirks_of("udp;ofi_rxd").no_atomics);
  EXPECT_THAT(std::string(why_no_atomics(quirks_of("something new"))),
              testing::HasSubstr("nobody has tried"));
  EXPECT_FALSE(quirks_of("shm").crosses_hosts);
  EXPECT_TRUE(quirks_of("something new").crosses_hosts);
  std::set<std::string_view> names;
  for (const Quirks& quirks : provider_quirks()) EXPECT_TRUE(names.insert(quirks.name).second) << quirks.name;
}

TEST(OfiProvider, ThatDoesNotExistIsNamedTogetherWithThoseThatDo) {
  const Found all = find_provider({.one_host = true});
  if (!all.problem.empty()) GTEST_SKIP() << all.problem;
  const Found none = find_provider({.provider = "carrier-pigeon", .one_host = true});
  EXPECT_THAT(none.problem, testing::HasSubstr("AQUEDUCT_OFI_PROVIDER=carrier-pigeon"));
  EXPECT_THAT(none.problem, testing::HasSubstr(all.provider.name()));
  const Found elsewhere =
      find_provider({.provider = all.provider.name(), .domain = "nowhere", .one_host = true});
  EXPECT_THAT(elsewhere.problem, testing::HasSubstr("AQUEDUCT_OFI_DOMAIN=nowhere"));
  EXPECT_THAT(elsewhere.problem, testing::HasSubstr(all.provider.domain()));
}

TEST(OfiProvider, ProgressesByItselfOnlyWhereAskedOrKnownTo) {
  const Found manual = find_provider({.provider = "tcp;ofi_rxm", .one_host = true});
  if (!manual.problem.empty()) GTEST_SKIP() << manual.problem;
  EXPECT_FALSE(manual.provider.auto_progress);
  EXPECT_EQ(manual.provider.info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
  EXPECT_EQ(manual.provider.info->tx_attr->op_flags & FI_DELIVERY_COMPLETE, 0u) << "packets need not wait";
  const Found itself = find_provider({.provider = "tcp;ofi_rxm", .one_host = true, .auto_progress = true});
  ASSERT_TRUE(itself.problem.empty()) << itself.problem;
  EXPECT_TRUE(itself.provider.auto_progress);
  const Found always = find_provider({.provider = "sockets", .one_host = true});
  if (always.problem.empty()) {
    EXPECT_TRUE(always.provider.auto_progress);
  }
}

TEST(OfiProvider, IsPartOfTheNetwork) {
  const Found tcp = find_provider({.provider = "tcp;ofi_rxm", .one_host = true});
  if (!tcp.problem.empty()) GTEST_SKIP() << tcp.problem;
  EXPECT_EQ(tcp.provider.network(), "tcp;ofi_rxm on " + tcp.provider.domain());
  const Found sockets = find_provider({.provider = "sockets", .one_host = true});
  if (sockets.problem.empty()) {
    EXPECT_NE(sockets.provider.network(), tcp.provider.network());
  }
}

TEST(OfiCma, IsRefusedWithTheReason) {
  EXPECT_EQ(why_no_cma({}), "");
  EXPECT_EQ(why_no_cma({.ptrace_scope = 2, .may_trace = true}), "");
  EXPECT_THAT(why_no_cma({.error = EPERM}), testing::HasSubstr("seccomp"));
  for (const CmaAccess& found :
       {CmaAccess{.ptrace_scope = 1}, CmaAccess{.ptrace_scope = 3, .may_trace = true}}) {
    EXPECT_THAT(why_no_cma(found), testing::HasSubstr("ptrace_scope"));
  }
}

TEST(OfiErrors, OfABrokenConnectionAreALostPeer) {
  EXPECT_EQ(code_of(0), ErrorCode::ok);
  EXPECT_EQ(code_of(FI_ECONNRESET), ErrorCode::peer_lost);
  EXPECT_EQ(code_of(FI_ETIMEDOUT), ErrorCode::peer_lost);
  EXPECT_EQ(code_of(FI_ENOMEM), ErrorCode::no_memory);
  EXPECT_EQ(code_of(FI_EINVAL), ErrorCode::network_failed);
}

TEST(OfiRequests, AreFoundByTheirContextAndEndWithTheirNumber) {
  Requests requests(3, 64);
  std::vector<Request*> taken;
  while (Request* request = requests.acquire(1, Request::Kind::transfer, 9)) taken.push_back(request);
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(requests.available(), 0u);
  for (Request* request : taken) {
    EXPECT_EQ(requests.of(&request->context), request);
    std::fill_n(request->slot, 64, std::byte{1});  // each has its own
  }
  EXPECT_EQ(taken[0]->slot + 64, taken[1]->slot);
  int elsewhere = 0;
  EXPECT_EQ(requests.of(&elsewhere), nullptr);
  EXPECT_EQ(requests.of(nullptr), nullptr);
  requests.release(*taken[1]);
  EXPECT_EQ(requests.acquire(0, Request::Kind::packet, 0), taken[1]);
}

/// Notes what comes, and may send more meanwhile.
struct Listener final : core::Inbox {
  core::ToSelf* again = nullptr;
  bool accepted = true;
  std::vector<std::string> heard;

  void packet(Rank, core::Bytes bytes) noexcept override {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, 0u);
    heard.push_back("packet " + std::to_string(bytes.size()));
    if (again != nullptr) accepted &= again->packet(bytes.first(8), {});
  }
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank from, Signal signal) noexcept override {
    heard.push_back("signal " + std::to_string(from) + " " + std::to_string(signal.add));
  }
  void lost(Rank) noexcept override {}
};

TEST(OfiToSelf, DeliversInOrderWhatFitsAndWhatIsSentMeanwhileLater) {
  core::ToSelf queue(160);
  alignas(8) std::byte header[8]{};
  const std::byte payload[13]{};
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.packet(header, payload));
  EXPECT_TRUE(queue.signal({1, 42}));
  EXPECT_TRUE(queue.packet(header, {}));
  std::vector<std::byte> large(100);
  EXPECT_FALSE(queue.packet(header, large)) << "more than there is room for";
  EXPECT_TRUE(queue.has_room_for_signal());
  core::ToSelf full(40);
  EXPECT_TRUE(full.packet(header, {}));
  EXPECT_FALSE(full.has_room_for_signal());
  EXPECT_FALSE(full.signal({1, 1}));
  Listener listener;
  listener.again = &queue;
  EXPECT_EQ(queue.deliver(3, listener), 3);
  EXPECT_THAT(listener.heard, testing::ElementsAre("packet 21", "signal 3 42", "packet 8"));
  EXPECT_TRUE(listener.accepted);
  listener.again = nullptr;
  EXPECT_EQ(queue.deliver(3, listener), 2);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace aqueduct::conduits::ofi
