// Two ranks do all kinds of calls again and again. In the n-th round of a call the n-th allocation that rank 1 makes in it
// fails, until a round has fewer allocations. Each call must succeed or return an error on both ranks, and the segment and
// the team of all ranks must work afterwards. Prints how many allocations failed for each kind of call.

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/programs/failing_new.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace aqueduct;

namespace {

thread_local std::uint64_t until_failure = 0;  ///< 1: the next allocation fails
thread_local std::uint64_t failed = 0;

}  // namespace

bool new_fails(bool is_aligned) noexcept {
  if (is_aligned || until_failure == 0 || --until_failure != 0) return false;
  ++failed;
  return true;
}

namespace {

constexpr std::size_t kBytes = 200'000;
constexpr std::uint64_t kMostRounds = 2000;
constexpr unsigned kSeconds = 15;  ///< for one round; it takes milliseconds

/// What a round works on. All of it is new in each round.
struct Things {
  Endpoint& me;
  Rank other;
  Segment& segment;
  std::vector<std::byte>& memory;  ///< this rank's part of the segment
  Team& team;
  std::vector<double> sums = std::vector<double>(10'000, 1.0);
  std::vector<std::byte> data = std::vector<std::byte>(kBytes / 2, std::byte{5});
};
using Call = std::function<Status(Things&)>;

[[noreturn]] void fail(std::string_view name, std::uint64_t round, std::string_view what) {
  std::printf("wrong: %.*s, allocation %llu: %.*s\n", static_cast<int>(name.size()), name.data(),
              static_cast<unsigned long long>(round), static_cast<int>(what.size()), what.data());
  std::fflush(stdout);
  std::_Exit(1);
}

bool is_fair(Status status) {
  return status.ok() || status.code() == ErrorCode::no_memory || status.code() == ErrorCode::mismatch;
}

/// Barriers that return no_memory have not begun, and the other rank waits for them.
template <class Barrier>
Status again(const Barrier& barrier) {
  Status status = barrier();
  while (status.code() == ErrorCode::no_memory && status.peer() == kNoRank) status = barrier();
  return status;
}

/// Returns whether an allocation of rank 1 has failed.
bool round_of(Endpoint& me, std::string_view name, std::uint64_t round, const Call& call) {
  std::vector<std::byte> memory(kBytes);
  auto segment = Segment::attach(me, memory);
  auto team = me.world().dup();
  if (!segment || !team) fail(name, round, "the things for a round cannot be made");
  Things things{me, 1 - me.rank(), *segment, memory, *team};
  ::alarm(kSeconds);
  failed = 0;
  until_failure = me.rank() == 1 ? round : 0;
  const Status status = call(things);
  until_failure = 0;
  if (!is_fair(status)) fail(name, round, status.text());
  // The reason reaches both ranks.
  const bool is_call = name == "broadcast" || name == "all_reduce" || name == "plan";
  if (is_call && status.code() == ErrorCode::mismatch)
    fail(name, round, "mismatch, where a member lacks memory");
  // What is left works.
  if (!me.barrier()) fail(name, round, "the barrier afterwards");
  std::vector<std::byte> sent(1000, std::byte(me.rank() + 1));
  if (const Status put_status = put(me, segment->at<std::byte>(things.other, 64), sent); !put_status)
    fail(name, round, "the put afterwards: " + put_status.text());
  std::vector<std::byte> got(sent.size());
  if (!get(me, got, segment->at<std::byte>(things.other, 64)) || got != sent)
    fail(name, round, "the get afterwards");
  std::vector<std::uint64_t> sum{failed};
  if (const Status summed = all_reduce(me.world(), sum, ReduceOp::sum); !summed)
    fail(name, round, "the collective call afterwards: " + summed.text());
  if (sum.front() == 0 && !status) fail(name, round, "an error without cause: " + status.text());
  static_cast<void>(team->end());
  if (!segment->release()) fail(name, round, "the release");
  return sum.front() != 0;
}

/// In two parts, the second of which may lack memory when the first is in flight.
Status put_of_many_dimensions(Things& with) {
  Group group(with.me);
  PutOptions options;
  options.group = &group;
  std::array<Dimension, kMostDimensions + 1> dims;  // no two of them merge
  dims.fill({2, 5});
  const Status begun =
      put_nbi(with.me, contiguous(with.segment.at<std::byte>(with.other), std::size_t{1} << dims.size()),
              pieces(std::as_const(with.data).data(), Strided(1, dims)), options);
  const Status ended = group.wait();
  return begun ? ended : begun;
}

/// Of two segments, so that the second transfer begins while the first one is in flight.
Status elements_of_a_list(Things& with) {
  const std::array places{with.segment.at<std::byte>(with.other, 1), GlobalPtr<std::byte>{with.other, 10},
                          with.segment.at<std::byte>(with.other, 3)};
  std::array<std::byte, places.size()> bytes{};
  const Status read = get_group<std::byte>(with.me, bytes, places);
  const Status written = put_group<std::byte>(with.me, places, bytes);
  return read ? written : read;
}

Status event_set(Things& with) {
  EventSet set;
  std::array<Event, 3> events;  // some of them may not get into the set
  for (Event& event : events) event = put_nb(with.me, with.segment.at<std::byte>(with.other), with.data);
  Status status;
  try {
    for (Event& event : events) set.add(std::move(event));
    for (std::size_t left = events.size(); left != 0; --left) set.wait_any(with.me);
  } catch (const std::bad_alloc&) {
    status = ErrorCode::no_memory;
  }
  for (Event& event : events) static_cast<void>(with.me.wait(event));
  const Status rest = set.wait_all(with.me);
  return status ? rest : status;
}

Status new_handlers(Things& with) {
  const auto typed = on_short_request<int>(with.me, [](auto&, int) {});
  const auto plain = register_plain(with.me, AmCategory::short_request, 1, [](auto&, auto, auto) {}, {});
  return typed ? plain.status() : typed.status();
}

}  // namespace

int main() {
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  auto handler = on_medium_request<std::uint64_t>(me, [](auto&, std::uint64_t, auto) {});
  if (!handler || !me.barrier()) return 2;
  const auto first_of = [](const Things& with) { return with.segment.at<std::uint64_t>(with.other, 0); };

  const std::pair<const char*, Call> calls[] = {
      {"put", [](Things& with) { return put(with.me, with.segment.at<std::byte>(with.other), with.data); }},
      {"get", [](Things& with) { return get(with.me, with.data, with.segment.at<std::byte>(with.other)); }},
      {"put_value", [&](Things& with) { return put_value(with.me, first_of(with), 7); }},
      {"atomic", [&](Things& with) { return fetch_add(with.me, first_of(with), 1).status(); }},
      {"strided put",
       [](Things& with) {
         return put(with.me, pieces(with.segment.at<std::byte>(with.other), Strided(100, {{50, 300}})),
                    pieces(with.data.data(), Strided(100, {{50, 100}})));
       }},
      {"put of many dimensions", put_of_many_dimensions},
      {"handler", new_handlers},
      {"elements of a list", elements_of_a_list},
      {"event set", event_set},
      {"message",
       [&](Things& with) {
         return request(with.me, with.other, *handler, 1, std::span(with.data).first(500));
       }},
      {"segment",
       [](Things& with) {
         auto made = Segment::create(with.team, 10'000);
         return made ? made->release() : made.status();
       }},
      {"dup",
       [](Things& with) {
         auto made = with.team.dup();
         return made ? made->end() : made.status();
       }},
      {"split",
       [](Things& with) {
         auto made = with.team.split(0, 0);
         return made ? (*made)->end() : made.status();
       }},
      {"barrier", [](Things& with) { return again([&] { return with.team.barrier(); }); }},
      {"barrier_nb",
       [](Things& with) { return again([&] { return with.me.wait(with.team.barrier_nb()); }); }},
      {"broadcast", [](Things& with) { return broadcast(with.team, with.data, 1); }},
      {"all_reduce", [](Things& with) { return all_reduce(with.team, with.sums, ReduceOp::sum); }},
      {"plan",
       [](Things& with) {
         auto plan = all_reduce_plan(with.team, std::span(with.sums).first(10), ReduceOp::sum);
         return plan ? plan->run() : plan.status();
       }},
  };
  for (const auto& [name, call] : calls) {
    std::uint64_t round = 1;
    while (round < kMostRounds && round_of(me, name, round, call)) ++round;
    if (round == kMostRounds) fail(name, round, "there is no end to the allocations");
    if (me.rank() == 1) std::printf("%s: %llu\n", name, static_cast<unsigned long long>(round - 1));
  }
  return job->finish().exit_code();
}
