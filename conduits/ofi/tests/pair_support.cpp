#include "conduits/ofi/tests/pair.hpp"
#include "conduits/ofi/wire.hpp"

#include <gtest/gtest.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <chrono>
#include <utility>

namespace aqueduct::conduits::ofi {
namespace {

/// Function tables that count calls, and inject failures, in front of the provider's own tables.
struct Counting {
  fi_ops_rma rma;
  fi_ops_msg msg;
  fi_ops_cq cq;
  const fi_ops_rma* own_rma;
  const fi_ops_msg* own_msg;
  const fi_ops_cq* own_cq;
  Calls calls;
  Faults faults;
  bool write_failed;
  void* failed_send;  // its context, until the queue has reported it
};

// Static, because libfabric's functions get an endpoint and nothing else; tests run one after the other.
Counting& counting() {
  static Counting one;
  return one;
}

ssize_t count_write(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
  if (counting().faults.writes_end_with != 0) {
    counting().write_failed = true;
    return 0;
  }
  const ssize_t answer = counting().own_rma->writemsg(ep, message, flags);
  counting().calls.writes += answer == 0;
  return answer;
}

ssize_t count_read(fid_ep* ep, void* to, std::size_t bytes, void* descriptor, fi_addr_t from,
                   std::uint64_t at, std::uint64_t key, void* context) {
  const ssize_t answer = counting().own_rma->read(ep, to, bytes, descriptor, from, at, key, context);
  counting().calls.reads += answer == 0;
  return answer;
}

ssize_t count_readmsg(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
  const ssize_t answer = counting().own_rma->readmsg(ep, message, flags);
  counting().calls.reads += answer == 0;
  return answer;
}

ssize_t count_send(fid_ep* ep, const void* from, std::size_t bytes, void* descriptor, fi_addr_t to,
                   void* context) {
  if (const int error = counting().faults.sends_answer; error != 0) return error;
  if (counting().faults.sends_end_with != 0) {
    counting().failed_send = context;
    return 0;
  }
  const ssize_t answer = counting().own_msg->send(ep, from, bytes, descriptor, to, context);
  (bytes == sizeof(PacketHead) ? counting().calls.hints : counting().calls.sends) += answer == 0;
  return answer;
}

ssize_t count_sendmsg(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (const int error = counting().faults.sends_answer; error != 0) return error;
  const ssize_t answer = counting().own_msg->sendmsg(ep, message, flags);
  counting().calls.sends += answer == 0;
  return answer;
}

ssize_t read_queue(fid_cq* cq, void* entries, std::size_t count) {
  if (const int error = counting().faults.queue; error != 0) return error;
  const bool failed = counting().failed_send != nullptr || counting().write_failed;
  return failed ? -FI_EAVAIL : counting().own_cq->read(cq, entries, count);
}

ssize_t read_queue_error(fid_cq* cq, fi_cq_err_entry* entry, std::uint64_t flags) {
  if (const int error = counting().faults.queue; error != 0) return error;
  if (std::exchange(counting().write_failed, false)) {
    entry->err = -counting().faults.writes_end_with;
    entry->flags = counting().faults.write_flags;
    return 1;
  }
  if (counting().failed_send == nullptr) return counting().own_cq->readerr(cq, entry, flags);
  entry->op_context = std::exchange(counting().failed_send, nullptr);
  entry->err = -counting().faults.sends_end_with;
  return 1;
}

void count(fid_ep& ep, fid_cq& cq) {
  Counting& one = counting();
  one.own_cq = cq.ops;
  one.cq = *cq.ops;
  one.cq.read = read_queue;
  one.cq.readerr = read_queue_error;
  cq.ops = &one.cq;
  one.own_rma = ep.rma;
  one.own_msg = ep.msg;
  one.rma = *ep.rma;
  one.msg = *ep.msg;
  one.rma.writemsg = count_write;
  one.rma.read = count_read;
  one.rma.readmsg = count_readmsg;
  one.msg.send = count_send;
  one.msg.sendmsg = count_sendmsg;
  ep.rma = &one.rma;
  ep.msg = &one.msg;
}

}  // namespace

Pair::Pair(const std::string& provider, const OfiOptions& options, Rank ranks)
    : log_(core::LogLevel::warn,
           [this](core::LogLevel, std::string_view line) { lines_.emplace_back(line); }),
      memory_(1 << 20),
      heard_(ranks) {
  Found found = find_provider({.provider = provider, .one_host = true});
  if (problem_ = found.problem; !problem_.empty()) return;
  provider_ = std::move(found.provider);
  open(options, ranks);
  calls() = {};
  faults() = {};
}

void Pair::open(const OfiOptions& options, Rank ranks) {
  const int error = open_fid(fabric_, [&](fid_fabric** raw) {
    return provider_.library.fabric(provider_.info->fabric_attr, raw, nullptr);
  });
  ASSERT_EQ(error, 0) << provider_.name() << " does not open";
  std::vector<std::vector<std::byte>> addresses;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto objects = open_objects(*fabric_, provider_, ranks, false, rank, log_);
    ASSERT_TRUE(objects) << lines_.front();
    if (rank == 0) count(*objects->ep, *objects->cq);
    ends_.push_back(std::make_unique<OfiConduit>(std::move(*objects), provider_, options, rank, log_,
                                                 core::kSystemClock));
    ASSERT_TRUE(ends_.back()->start()) << lines_.front();
    addresses.push_back(ends_.back()->address());
  }
  for (auto& end : ends_) ASSERT_TRUE(end->connect(addresses));
  auto exported = ends_[1]->rma()->register_segment(0, memory_);
  ASSERT_TRUE(exported);
  exported_ = *exported;
  const auto imported = ends_[0]->rma()->import_key(1, exported_);
  ASSERT_TRUE(imported);
  key_ = *imported;
}

Faults& Pair::faults() { return counting().faults; }

Calls& Pair::calls() { return counting().calls; }

void Pair::poll() {
  for (Rank rank = 0; rank < ends_.size(); ++rank) ends_[rank]->poll(heard_[rank]);
}

bool Pair::until(const std::function<bool()>& holds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    poll();
  }
  return true;
}

core::Post Pair::insist(const std::function<core::Post()>& attempt) {
  core::Post post = core::Post::retry();
  static_cast<void>(until([&] { return (post = attempt()).kind != core::Post::Kind::retry; }));
  return post;
}

Status Pair::end_of(core::Token token) {
  auto& ended = heard_[0].completed_ones;
  if (!until([&] { return ended.count(token) != 0; })) return ErrorCode::timed_out;
  return ended.at(token);
}

}  // namespace aqueduct::conduits::ofi
