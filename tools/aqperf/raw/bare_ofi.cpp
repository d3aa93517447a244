#include "tools/aqperf/raw/bare_ofi.hpp"

#include "conduits/ofi/ofi_network.hpp"
#include "core/endpoint_state.hpp"
#include "tools/aqperf/raw/deadline.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace aqueduct::perf {
namespace {

/// What one rank sends the other before they connect.
struct OfiCard {
  std::uint32_t key_bytes = 0;
  std::array<std::byte, 120> name{};
  std::array<std::byte, 64> key{};
};

}  // namespace

BareOfi::BareOfi(Session& session, Role role, const NetworkTurn& turn)
    : role_(role),
      turn_(turn),
      patience_(session, Patience::kRounds),
      served_(session, UINT32_MAX),
      config_(Config::from_environment()),
      log_(config_, session.rank()),
      memory_(2 * std::max<std::size_t>(turn.bytes, sizeof(std::uint64_t))),
      contexts_(turn.window) {
  const bool opened = open(session);
  usable_ = session.everyone(opened);
  if (usable_) meet(session);
}

bool BareOfi::open(Session& session) {
  const auto& hosts = session.ep().state().host_of;
  const bool one_host = std::equal(hosts.begin() + 1, hosts.end(), hosts.begin());
  auto found = conduits::ofi::find_provider(conduits::ofi::criteria_of(config_, one_host));
  if (!found.problem.empty()) return false;
  provider_ = std::move(found.provider);
  const int error = conduits::ofi::open_fid(fabric_, [&](fid_fabric** raw) {
    return provider_.library.fabric(provider_.info->fabric_attr, raw, nullptr);
  });
  if (error != 0) return false;
  auto objects =
      conduits::ofi::open_objects(*fabric_, provider_, session.ranks(), false, session.rank(), log_);
  if (!objects) return false;
  objects_ = std::move(*objects);
  if (::fi_enable(objects_.ep.get()) != 0) return false;
  most_ = std::min<std::uint64_t>(provider_.quirks->most_queue, provider_.info->tx_attr->size);
  registrations_.emplace(*objects_.domain, *objects_.ep, provider_, session.rank(), log_);
  auto key = registrations_->add_segment(0, memory_);
  if (!key) return false;
  key_ = std::move(*key);
  descriptor_ = registrations_->descriptor_in_segment(memory_);
  receive_one();
  return true;
}

void BareOfi::meet(Session& session) {
  OfiCard mine;
  const auto name = require(objects_.name(), "fi_getname");
  if (name.size() > mine.name.size() || key_.size() > mine.key.size()) {
    throw Failure("--vs raw: this provider's addresses are too long to be exchanged", 1);
  }
  mine.key_bytes = static_cast<std::uint32_t>(key_.size());
  std::ranges::copy(name, mine.name.begin());
  std::ranges::copy(key_, mine.key.begin());
  const auto all = session.exchange(mine);
  if (role_.peer == kNoRank) return;
  const OfiCard& theirs = all[role_.peer];
  if (::fi_av_insert(objects_.av.get(), theirs.name.data(), 1, &peer_, 0, nullptr) != 1) {
    throw Failure("--vs raw: fi_av_insert refused the peer's address", 1);
  }
  const auto handle = require(
      registrations_->import(role_.peer, std::span(theirs.key).first(theirs.key_bytes)), "the peer's key");
  const auto& remote = registrations_->remote(handle);
  there_ = remote.base + memory_.size() / 2;
  there_key_ = remote.key;
}

void BareOfi::run(std::uint64_t turns) {
  if (role_.peer == kNoRank) return;
  if (turn_.kind == NetworkTurn::Kind::answer) return answers(turns);
  expected_ += role_.active ? 0 : 1;
  if (role_.active) {
    transfers(turns);
    // Tells the passive side that the turns are over. Not injected: its completion shows that it has left.
    insist([&] {
      return ::fi_send(objects_.ep.get(), memory_.data(), sizeof(std::uint64_t), descriptor_, peer_,
                       &sending_);
    });
    ++sent_;
    wait(patience_, [&] { return sent_ == 0; });
  } else {
    wait(served_, [&] { return received_ >= expected_; });
  }
}

void BareOfi::transfers(std::uint64_t turns) {
  const bool put = turn_.kind == NetworkTurn::Kind::put;
  std::byte* const local = memory_.data();
  const iovec here{local, turn_.bytes};
  const fi_rma_iov there{there_, turn_.bytes, there_key_};
  fi_msg_rma message{&here, &descriptor_, 1, peer_, &there, 1, nullptr, 0};
  for (; turns > 0; --turns) {
    for (fi_context2& context : contexts_) {
      wait(patience_, [&] { return sent_ < most_; });
      message.context = &context;
      insist([&] {
        return put ? ::fi_writemsg(objects_.ep.get(), &message, provider_.delivered())
                   : ::fi_read(objects_.ep.get(), local, turn_.bytes, descriptor_, peer_, there_, there_key_,
                               &context);
      });
      ++sent_;
    }
    wait(patience_, [&] { return sent_ == 0; });
  }
}

void BareOfi::answers(std::uint64_t turns) {
  for (; turns > 0; --turns) {
    if (role_.active) send(turn_.bytes);
    ++expected_;
    wait(patience_, [&] { return received_ >= expected_; });
    if (!role_.active) send(turn_.bytes);
  }
  wait(patience_, [&] { return sent_ == 0; });
}

void BareOfi::send(std::size_t bytes) {
  bytes = std::max(bytes, sizeof(std::uint64_t));
  if (bytes <= provider_.info->tx_attr->inject_size) {
    insist([&] { return ::fi_inject(objects_.ep.get(), memory_.data(), bytes, peer_); });
    return;
  }
  wait(patience_, [&] { return sent_ == 0; });  // there is one send buffer
  insist([&] { return ::fi_send(objects_.ep.get(), memory_.data(), bytes, descriptor_, peer_, &sending_); });
  ++sent_;
}

void BareOfi::receive_one() {
  insist([&] {
    return ::fi_recv(objects_.ep.get(), inbox(), memory_.size() / 2, descriptor_, FI_ADDR_UNSPEC,
                     &receiving_);
  });
}

void BareOfi::look() {
  std::array<fi_cq_data_entry, 16> batch;
  const auto found = ::fi_cq_read(objects_.cq.get(), batch.data(), batch.size());
  for (std::int64_t i = 0; i < found; ++i) {
    if (batch[static_cast<std::size_t>(i)].op_context == &receiving_) {
      ++received_;
      receive_one();
    } else {
      --sent_;
    }
  }
  if (found < 0 && found != -FI_EAGAIN) throw Failure("--vs raw: a bare call of libfabric failed", 1);
}

template <class Condition>
void BareOfi::wait(const Patience& patience, const Condition& holds) {
  if (holds()) return;
  Deadline deadline;
  patience.until([&] {
    deadline.look("the other side's call of libfabric");
    return look(), holds();
  });
}

template <class Call>
void BareOfi::insist(const Call& call) {
  Deadline deadline;
  patience_.until([&] {
    deadline.look("room for a call of libfabric");
    const auto answer = call();
    if (answer != 0 && answer != -FI_EAGAIN) {
      throw Failure(std::string("libfabric: ") + provider_.library.text(answer), 1);
    }
    if (answer != 0) look();
    return answer == 0;
  });
}

}  // namespace aqueduct::perf
