// Collectives made of puts with signals, over teams: all ranks, halves, and active sets that only their members know.

#include <aqueduct/signal.hpp>

#include "tests/layer/parts.hpp"

#include <algorithm>
#include <vector>

namespace aqueduct::layer {
namespace {

constexpr std::size_t kCount = 5;

/// Symmetric memory of one team's collectives. All ranks allocate it, whoever uses it.
struct Scratch {
  explicit Scratch(Pe& pe)
      : words(pe.heap.allocate<std::uint64_t>(kWords)),
        box(pe.heap.allocate<std::int64_t>(kCount)),
        slots(pe.heap.allocate<std::int64_t>(kCount * pe.ranks())) {}
  static constexpr std::size_t kWords = 35;  // of the sync's rounds 0 to 31, and these
  static constexpr std::size_t kBroadcast = 32, kGather = 33, kAllToAll = 34;
  Symmetric<std::uint64_t> words;  // how many signals of each kind have arrived, since the beginning
  Symmetric<std::int64_t> box;
  Symmetric<std::int64_t> slots;
};

/// The collectives of one team. Words only count upwards, and every call ends with a sync: memory is free for the next.
class Collectives {
 public:
  Collectives(Pe& pe, Team& team, const Scratch& scratch)
      : pe_(pe), team_(team), scratch_(scratch), n_(team.size()), me_(team.index()) {}

  /// A barrier by dissemination: in round k a signal to the member 2^k further on.
  void sync() {
    ++syncs_;
    for (Rank round = 0, step = 1; step < n_; ++round, step *= 2) {
      send(scratch_.box, (me_ + step) % n_, 0, {}, round);
      pe_.wait_on(scratch_.words[round], Comparison::greater_equal, syncs_, "wait in a sync");
    }
    pe_.quiet();
  }
  /// By a binomial tree whose root is the member `root`.
  void broadcast(std::span<std::int64_t> values, Rank root) {
    const Rank place = (me_ + n_ - root) % n_;
    Rank step = 1;
    for (; step < n_ && (place & step) == 0; step *= 2) {
    }
    if (place != 0) {
      pe_.wait_on(scratch_.words[Scratch::kBroadcast], Comparison::greater_equal, ++broadcasts_,
                  "wait for the parent's broadcast");
      std::ranges::copy(scratch_.box.mine().first(values.size()), values.begin());
    }
    for (step /= 2; step > 0; step /= 2) {
      if (place + step >= n_) continue;
      send(scratch_.box, (place + step + root) % n_, 0, values, Scratch::kBroadcast);
    }
    pe_.quiet();
    sync();
  }
  /// Every member's values to member 0, which adds them up and broadcasts the sums.
  void sum_to_all(std::span<std::int64_t> values) {
    if (me_ != 0) {
      send(scratch_.slots, 0, me_ * values.size(), values, Scratch::kGather);
      pe_.quiet();
    } else {
      gathered_ += n_ - 1;
      pe_.wait_on(scratch_.words[Scratch::kGather], Comparison::greater_equal, gathered_, "wait in a sum");
      for (std::size_t i = values.size(); i < n_ * values.size(); ++i) {
        values[i % values.size()] += scratch_.slots[i];
      }
    }
    broadcast(values, 0);
  }
  /// Block i of mine to member i; block i of theirs is from member i.
  void all_to_all(std::span<const std::int64_t> mine, std::span<std::int64_t> theirs) {
    const std::size_t block = mine.size() / n_;
    for (Rank to = 0; to < n_; ++to) {
      send(scratch_.slots, to, me_ * block, mine.subspan(to * block, block), Scratch::kAllToAll);
    }
    exchanged_ += n_;
    pe_.wait_on(scratch_.words[Scratch::kAllToAll], Comparison::greater_equal, exchanged_,
                "wait in an all-to-all");
    std::ranges::copy(scratch_.slots.mine().first(theirs.size()), theirs.begin());
    pe_.quiet();
    sync();
  }

 private:
  void send(const Symmetric<std::int64_t>& where, Rank member, std::size_t at,
            std::span<const std::int64_t> values, std::size_t word) {
    const Rank to = team_.rank_of(member);
    const SignalWord signal{scratch_.words.on(to, word), 1, SignalOp::add};
    pe_.report.need(put_signal_nbi(pe_.ep, where.on(to, at), values, signal), "put with a signal");
  }

  Pe& pe_;
  Team& team_;
  const Scratch& scratch_;
  Rank n_;
  Rank me_;  // among the members
  std::uint64_t syncs_ = 0, broadcasts_ = 0, gathered_ = 0, exchanged_ = 0;
};

void use(Pe& pe, Team& team, const Scratch& scratch) {
  Collectives collectives(pe, team, scratch);
  const std::int64_t n = team.size(), me = team.index();
  std::vector<std::int64_t> values(kCount);
  for (Rank root = 0; root < team.size(); ++root) {
    const auto sent = [=](std::size_t i) { return static_cast<std::int64_t>(100 * root + i); };
    for (std::size_t i = 0; i < kCount; ++i) values[i] = team.index() == root ? sent(i) : 0;
    collectives.broadcast(values, root);
    pe.report.all(std::span(values), sent, "a broadcast");
  }
  for (std::size_t i = 0; i < kCount; ++i) values[i] = me + static_cast<std::int64_t>(i);
  collectives.sum_to_all(values);
  pe.report.all(
      std::span(values), [&](std::size_t i) { return n * (n - 1) / 2 + n * static_cast<std::int64_t>(i); },
      "a sum over a team");
  std::vector<std::int64_t> mine(kCount * team.size()), theirs(mine.size());
  const auto entry = [](std::int64_t from, std::int64_t to, std::size_t i) {
    return 1000 * from + 10 * to + static_cast<std::int64_t>(i);
  };
  const auto member = [](std::size_t i) { return static_cast<std::int64_t>(i / kCount); };
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = entry(me, member(i), i % kCount);
  collectives.all_to_all(mine, theirs);
  pe.report.all(
      std::span(theirs), [&](std::size_t i) { return entry(member(i), me, i % kCount); }, "an all-to-all");
}

/// A team of these ranks, in this order; the other ranks do nothing.
void use_active_set(Pe& pe, const std::vector<Rank>& ranks, std::uint64_t tag) {
  const Scratch first_memory(pe), second_memory(pe);
  pe.barrier();  // the memory is zero everywhere, and only the members go on
  if (std::ranges::find(ranks, pe.me()) == ranks.end()) return;
  // The same ranks twice at a time: by two tags.
  Team first = pe.report.need(Team::create(pe.ep, ranks, tag), "create a team");
  Team second = pe.report.need(Team::create(pe.ep, ranks, tag + 1), "create a second team");
  pe.report.all(
      first.members(), [&](std::size_t i) { return ranks[i]; }, "the members of an active set");
  use(pe, second, second_memory);
  pe.report.need(first.barrier(), "barrier of an active set");
  use(pe, first, first_memory);
  pe.report.need(first.end(), "end of a team");
  pe.report.need(second.end(), "end of a second team");
  pe.report.code(first.barrier(), ErrorCode::closed, "a barrier of a team that has ended");
}

}  // namespace

void collectives(Pe& pe) {
  const Scratch of_all(pe), of_half(pe);
  pe.barrier();
  use(pe, pe.ep.world(), of_all);
  // Two halves at a time, with the ranks backwards.
  auto half = pe.report.need(pe.ep.world().split(pe.me() % 2, -static_cast<std::int64_t>(pe.me())),
                             "split all ranks");
  pe.report.equal<Rank>(half->index(), (half->size() - 1) - pe.me() / 2, "my index among ranks backwards");
  use(pe, *half, of_half);
  pe.report.need(half->end(), "end of a half");

  std::vector<Rank> every_second;
  for (Rank rank = 0; rank < pe.ranks(); rank += 2) every_second.push_back(rank);
  use_active_set(pe, every_second, 7);
  std::vector<Rank> ends{pe.ranks() - 1};
  if (pe.ranks() > 1) ends.push_back(0);
  use_active_set(pe, ends, 7);
}

void barriers(Pe& pe) {
  Team& all = pe.ep.world();
  pe.report.need(all.barrier(42), "a barrier with one value");
  pe.report.need(pe.me() == 0 ? all.barrier() : all.barrier(43), "a barrier in which one rank has no value");
  if (pe.ranks() > 1) {
    pe.report.code(all.barrier(pe.me()), ErrorCode::mismatch, "a barrier with a value of each rank");
  }
  pe.report.need(all.notify(44), "notify with a value");
  pe.wait_until([&] { return all.try_wait(); }, "wait for the other half of a barrier");
  pe.report.need(all.wait(), "the outcome of a barrier in two halves");
  Event first = all.barrier_nb(), second = all.barrier_nb(45), third = all.barrier_nb(pe.me());
  if (pe.ranks() > 1) pe.report.code(pe.ep.wait(third), ErrorCode::mismatch, "the third barrier in flight");
  pe.report.need(pe.ep.wait(second), "the second barrier in flight");
  pe.report.need(pe.ep.wait(first), "the first barrier in flight");
  if (pe.ranks() == 1) pe.report.need(pe.ep.wait(third), "the third barrier in flight");
}

}  // namespace aqueduct::layer
