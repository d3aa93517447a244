#include "tools/aqperf/raw/bare_ibv.hpp"

#include "conduits/ibv/ibv_network.hpp"
#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace aqueduct::perf {
namespace {

/// What one rank sends the other before they connect.
struct IbvCard {
  bool usable = false;
  conduits::ibv::Address address;
  conduits::ibv::Hello hello;  // its cell is the half that the peer reaches
};

constexpr std::uint64_t kReceive = 1;

}  // namespace

BareIbv::BareIbv(Session& session, Role role, const NetworkTurn& turn)
    : role_(role),
      turn_(turn),
      patience_(session, Patience::kRounds),
      config_(Config::from_environment()),
      log_(config_, session.rank()),
      memory_(2 * std::max<std::size_t>(turn.bytes, sizeof(std::uint64_t))) {
  const bool opened = open(session);
  usable_ = session.everyone(opened) && meet(session);
}

bool BareIbv::open(Session& session) {
  auto loaded = conduits::ibv::load_verbs();
  if (!loaded.problem.empty()) return false;
  verbs_ = loaded.verbs;
  auto found = conduits::ibv::find_port(verbs_, conduits::ibv::wish_of(config_));
  if (!found.problem.empty()) return false;
  port_ = std::move(found.port);
  conduits::ibv::IbvOptions options;
  options.shared_receive_queue = false;
  options.depth = std::max<std::uint32_t>(options.depth, static_cast<std::uint32_t>(turn_.window) + 1);
  options.queue = std::max(options.queue, options.depth);
  auto objects = conduits::ibv::open_objects(verbs_, port_, options, 2, session.rank(), log_);
  if (!objects) return false;
  objects_ = std::move(*objects);
  region_ = {verbs_.reg_mr(objects_.domain.get(), memory_.data(), memory_.size(),
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                               (objects_.sizes.atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0)),
             {verbs_.dereg_mr}};
  auto made = conduits::ibv::make_pair(verbs_, objects_, port_, options);
  pair_ = std::move(made.pair);
  inline_bytes_ = made.inline_bytes;
  const bool can = turn_.kind != NetworkTurn::Kind::atomic || objects_.sizes.atomics;
  return region_ != nullptr && pair_ != nullptr && can;
}

bool BareIbv::meet(Session& session) {
  IbvCard mine;
  std::memcpy(mine.address.gid.data(), port_.gid.raw, mine.address.gid.size());
  mine.address.lid = port_.attributes.lid;
  mine.address.mtu = static_cast<std::uint8_t>(port_.attributes.active_mtu);
  mine.address.reads = objects_.sizes.answers;
  mine.hello.pair = pair_->qp_num;
  mine.hello.counter = reinterpret_cast<std::uint64_t>(inbox());
  mine.hello.counter_key = region_->rkey;
  const auto all = session.exchange(mine);
  bool connected = true;
  if (role_.peer != kNoRank) {
    const IbvCard& theirs = all[role_.peer];
    connected = conduits::ibv::connect_pair(verbs_, *pair_, objects_, port_, {}, theirs.address, theirs.hello,
                                            0) == 0;
    there_ = theirs.hello.counter;
    there_key_ = theirs.hello.counter_key;
    receive_one();
  }
  make_window();
  return session.everyone(connected);
}

void BareIbv::make_window() {
  piece_ = {reinterpret_cast<std::uint64_t>(memory_.data()), static_cast<std::uint32_t>(turn_.bytes),
            region_->lkey};
  const bool atomic = turn_.kind == NetworkTurn::Kind::atomic;
  const bool put = !atomic && turn_.kind != NetworkTurn::Kind::get;
  window_.assign(turn_.window, {});
  for (std::size_t i = 0; i < window_.size(); ++i) {
    ibv_send_wr& request = window_[i];
    request.opcode = put ? IBV_WR_RDMA_WRITE : atomic ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_READ;
    request.sg_list = &piece_;
    request.num_sge = 1;
    if (atomic) {
      request.wr.atomic = {there_, 1, 0, there_key_};
    } else {
      request.wr.rdma = {there_, there_key_};
    }
    request.send_flags = put && turn_.bytes <= inline_bytes_ ? unsigned{IBV_SEND_INLINE} : 0u;
    request.next = i + 1 < window_.size() ? &window_[i + 1] : nullptr;
  }
  window_.back().send_flags |= IBV_SEND_SIGNALED;
}

void BareIbv::run(std::uint64_t turns) {
  if (role_.peer == kNoRank) return;
  if (turn_.kind == NetworkTurn::Kind::answer) {
    for (; turns > 0; --turns) {
      if (role_.active) send(turn_.bytes);
      ++expected_;
      patience_.until([&] { return look(), received_ >= expected_; });
      if (!role_.active) send(turn_.bytes);
    }
  } else if (role_.active) {
    transfers(turns);
    send(sizeof(std::uint64_t));  // tells the passive side that the turns are over
  } else {
    ++expected_;
    patience_.until([&] { return look(), received_ >= expected_; });
  }
  patience_.until([&] { return look(), sent_ == 0; });
}

void BareIbv::transfers(std::uint64_t turns) {
  for (; turns > 0; --turns) {
    ibv_send_wr* bad = nullptr;
    if (::ibv_post_send(pair_.get(), window_.data(), &bad) != 0)
      throw Failure("--vs raw: ibv_post_send refused a window of requests", 1);
    ++sent_;
    patience_.until([&] { return look(), sent_ == 0; });
  }
}

void BareIbv::send(std::size_t bytes) {
  patience_.until([&] { return sent_ == 0 || (look(), sent_ == 0); });
  ibv_sge piece{reinterpret_cast<std::uint64_t>(memory_.data()),
                static_cast<std::uint32_t>(std::max(bytes, sizeof(std::uint64_t))), region_->lkey};
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_SIGNALED | (piece.length <= inline_bytes_ ? unsigned{IBV_SEND_INLINE} : 0u);
  ibv_send_wr* bad = nullptr;
  if (::ibv_post_send(pair_.get(), &request, &bad) != 0)
    throw Failure("--vs raw: ibv_post_send refused a message", 1);
  ++sent_;
}

void BareIbv::receive_one() {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(inbox()), static_cast<std::uint32_t>(memory_.size() / 2),
                region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = kReceive;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (::ibv_post_recv(pair_.get(), &request, &bad) != 0) throw Failure("ibv_post_recv refuses", 1);
}

void BareIbv::look() {
  std::array<ibv_wc, 16> batch;
  const int found = ::ibv_poll_cq(objects_.queue.get(), static_cast<int>(batch.size()), batch.data());
  for (int i = 0; i < found; ++i) {
    const ibv_wc& one = batch[static_cast<std::size_t>(i)];
    if (one.status != IBV_WC_SUCCESS) {
      throw Failure(std::string("--vs raw: a bare work request failed: ") + verbs_.wc_status_str(one.status),
                    1);
    }
    if (one.wr_id == kReceive) {
      ++received_;
      receive_one();
    } else {
      --sent_;
    }
  }
}

}  // namespace aqueduct::perf
