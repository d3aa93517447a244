#include "tests/simgrid/simgrid_times.hpp"

#include "coll/schedule/schedule.hpp"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::simgrid_tests {

namespace {

namespace s4u = simgrid::s4u;
using coll::Counter;
using coll::Schedule;
using coll::Step;

double bandwidth_of(const Platform& platform) { return 1e9 / platform.ns_per_byte; }

/// Fluid flows that share links evenly, without TCP: what LogGP with shared links has instead is one message after the other.
void configure() {
  for (const char* const setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e30", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/loopback-lat:0"})
    s4u::Engine::set_config(setting);
}

std::vector<s4u::Host*> make_switch(Rank ranks, const Platform& platform) {
  s4u::NetZone* const zone = s4u::create_star_zone("switch");
  std::vector<s4u::Host*> hosts;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string name = std::to_string(rank);
    s4u::Host* const host = zone->create_host(name, 1e9)->seal();
    const s4u::Link* const link = zone->create_split_duplex_link("link" + name, bandwidth_of(platform))
                                      ->set_latency(platform.latency_us * 1e-6 / 2)
                                      ->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// A torus or a fat tree.
std::vector<s4u::Host*> make_cluster(Rank ranks, const Platform& platform) {
  std::vector<s4u::Host*> hosts(ranks);
  const auto make_host = [&hosts](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long id)
      -> std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*> {
    s4u::Host* const host = zone->create_host(std::to_string(id), 1e9)->seal();
    if (id < hosts.size()) hosts[id] = host;
    return {host->get_netpoint(), nullptr};
  };
  const s4u::ClusterCallbacks callbacks(make_host);
  const double bandwidth = bandwidth_of(platform);
  const double latency = platform.latency_us * 1e-6;
  const auto policy = s4u::Link::SharingPolicy::SPLITDUPLEX;
  if (platform.ports == 0) {
    s4u::create_torus_zone("torus", nullptr, platform.torus, callbacks, bandwidth, latency, policy)->seal();
  } else {
    const unsigned int half = platform.ports / 2;
    s4u::create_fatTree_zone("tree", nullptr, {2, {half, platform.ports}, {1, half}, {1, 1}}, callbacks,
                             bandwidth, latency, policy)
        ->seal();
  }
  return hosts;
}

s4u::Mailbox* mailbox_of(Rank rank, Counter counter) {
  return s4u::Mailbox::by_name(std::to_string(rank) + ":" + std::to_string(counter));
}

/// A member: executes its steps as the engine does.
class Member {
 public:
  Member(const coll::Algorithm& algorithm, const coll::Shape& shape, Rank rank, double overhead_us,
         double& ended)
      : schedule_(algorithm, shape, rank), rank_(rank), overhead_us_(overhead_us), ended_(ended) {}

  void operator()() {
    for (std::uint32_t i = 0; i < schedule_.length(0); ++i) {
      const Step step = schedule_.step(0, i);
      if (step.wait_for != coll::kNoCounter) wait(step.wait_for, step.wait_until);
      if (step.kind == Step::Kind::put || step.kind == Step::Kind::signal) post(step);
    }
    // Its own messages may still leave, but nobody waits for that.
    ended_ = s4u::Engine::get_clock();
  }

 private:
  void wait(Counter counter, std::uint32_t until) {
    while (counts_[counter] < until) {
      const auto add = mailbox_of(rank_, counter)->get_unique<std::uint32_t>();
      counts_[counter] += *add;
    }
  }
  void post(const Step& step) {
    if (overhead_us_ > 0) s4u::this_actor::sleep_for(overhead_us_ * 1e-6);
    // SimGrid's flows of no bytes take no time at all, not even the latency.
    const std::uint64_t bytes =
        std::max<std::uint64_t>(1, step.kind == Step::Kind::put ? step.bytes * step.runs : 0);
    mailbox_of(step.peer, step.raise)->put_init(new std::uint32_t(step.add), bytes)->detach();
  }

  Schedule schedule_;
  Rank rank_;
  double overhead_us_;
  double& ended_;
  std::map<Counter, std::uint32_t> counts_;
};

double run_here(const coll::Algorithm& algorithm, const coll::Shape& shape, const Platform& platform) {
  int count = 1;
  std::string name = "simgrid_tests";
  char* arguments[] = {name.data(), nullptr};
  s4u::Engine engine(&count, arguments);
  configure();
  const auto hosts = platform.torus.empty() && platform.ports == 0 ? make_switch(shape.ranks, platform)
                                                                   : make_cluster(shape.ranks, platform);
  std::vector<double> ended(shape.ranks, std::numeric_limits<double>::infinity());
  const std::uint32_t counters = Schedule::needs(algorithm, shape).counters;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const auto actor = s4u::Actor::create("member", hosts[rank],
                                          Member(algorithm, shape, rank, platform.overhead_us, ended[rank]));
    // So that a message leaves whether or not the receiver waits for it already.
    for (std::uint32_t counter = 0; counter < counters; ++counter)
      mailbox_of(rank, static_cast<Counter>(counter))->set_receiver(actor);
  }
  engine.run();
  return *std::max_element(ended.begin(), ended.end()) * 1e6;
}

}  // namespace

double simgrid_us(const coll::Algorithm& algorithm, const coll::Shape& shape, const Platform& platform) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double us = run_here(algorithm, shape, platform);
    std::_Exit(write(ends[1], &us, sizeof us) == sizeof us ? 0 : 1);
  }
  close(ends[1]);
  double us = -1;
  const bool answered = read(ends[0], &us, sizeof us) == sizeof us;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return answered && status == 0 ? us : -1;
}

}  // namespace aqueduct::simgrid_tests
